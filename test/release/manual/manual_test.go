package manual

import (
	"errors"
	"strings"
	"testing"
	"time"
)

// A page has what the help has, in roff that prints it as it is.
func TestAPageSaysWhatTheHelpSays(t *testing.T) {
	help := map[string]string{
		"": "A program – it\nsays 'no'.\n\n  .begins with \"$X\" \\n\n\tand a tab\n\nThe end.\n\nUsage:\n  tool [flags]\n  tool [command]\n\n" +
			"First:\n  go          Go on, and\n              on\n  help        Help\n\nFlags:\n  -h, --help          help\n      --dir NAME[=\".\"]   a folder\n                      to go to\n\nUse \"tool [command] --help\".\n",
		"go": "Go on.\n\nUsage:\n  tool go WHERE [flags]\n\nExamples:\n  tool go here\n  tool go there\n\n  tool go on\n\nFlags:\n      --far   .far\n",
	}
	book := Book{Program: "tool", Summary: "a tool", Version: "1.0", Date: time.Unix(0, 0), Help: func(commands ...string) (string, error) {
		return help[strings.Join(commands, " ")], nil
	}}
	pages, err := book.Pages()
	if err != nil {
		t.Fatal(err)
	}
	want := []Page{{"tool", `.TH "TOOL" "1" "1970\-01\-01" "tool 1.0" "Manual of tool"
.\" Made of the program's --help.
.nh
.ad l
.SH NAME
tool \- a tool
.SH SYNOPSIS
\fBtool\fR [flags]
.br
\fBtool\fR [command]
.SH DESCRIPTION
A program \[u2013] it
says \(aqno\(aq.
.PP
.nf
  .begins with \(dq$X\(dq \en
  and a tab
.fi
.PP
The end.
.SH COMMANDS
.SS First
.TP 6
\fBgo\fR
Go on, and on
.TP 6
\fBhelp\fR
Help
.SH FLAGS
.TP
\fB\-h, \-\-help\fR
help
.TP
\fB\-\-dir\fR NAME[=\(dq.\(dq]
a folder to go to
.PP
Use \(dqtool [command] \-\-help\(dq.
.SH SEE ALSO
\fBtool\-go\fR(1)
`}, {"tool-go", `.TH "TOOL\-GO" "1" "1970\-01\-01" "tool 1.0" "Manual of tool"
.\" Made of the program's --help.
.nh
.ad l
.SH NAME
tool\-go \- Go on, and on
.SH SYNOPSIS
\fBtool go\fR WHERE [flags]
.SH DESCRIPTION
Go on.
.SH EXAMPLES
.nf
  tool go here
  tool go there
.fi
.PP
.nf
  tool go on
.fi
.SH FLAGS
.TP 7
\fB\-\-far\fR
\&.far
.SH SEE ALSO
\fBtool\fR(1)
`}}
	if len(pages) != len(want) {
		t.Fatalf("%d pages", len(pages))
	}
	for i, page := range pages {
		if page != want[i] {
			t.Errorf("page %s:\n%s", page.Name, page.Text)
		}
	}
}

// A form of help that is not known is an error, and no page that lacks it.
func TestHelpOfAnUnknownFormIsAnError(t *testing.T) {
	const usage = "Text.\n\nUsage:\n  tool\n\n"
	for name, help := range map[string]string{
		"no usage":               "Text.\n",
		"an empty usage":         "Text.\n\nUsage:\n",
		"indented lines":         usage + "  something\n",
		"two last lines":         usage + "One.\n\nTwo.\n",
		"flags without dash":     usage + "Flags:\n  far   away\n",
		"a command too far left": usage + "Commands:\n go   on\n",
		"no commands":            usage,
	} {
		book := Book{Program: "tool", Help: func(...string) (string, error) { return help, nil }}
		if pages, err := book.Pages(); err == nil {
			t.Errorf("%s: %v", name, pages)
		}
	}
	again := Book{Program: "tool", Help: func(...string) (string, error) { return usage + "Samples:\n  tool it\n", nil }}
	if _, err := again.Pages(); err == nil || err.Error() != `the help of tool tool is that of "tool": it is no command` {
		t.Errorf("a list of something else: %v", err)
	}
	failing := Book{Program: "tool", Help: func(...string) (string, error) { return "", errors.New("no program") }}
	if _, err := failing.Pages(); err == nil || err.Error() != "the help of tool: no program" {
		t.Errorf("%v", err)
	}
}
