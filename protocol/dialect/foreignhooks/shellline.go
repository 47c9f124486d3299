package foreignhooks

// ShellLine is the command line that runs a command as the agents do that write it as one
// string.
func ShellLine(command string) []string { return []string{"/bin/sh", "-c", command} }

// ShellText is the command of [ShellLine]. ok is false for any other command line.
func ShellText(command []string) (text string, ok bool) {
	if len(command) != 3 || command[0] != "/bin/sh" || command[1] != "-c" {
		return "", false
	}
	return command[2], true
}
