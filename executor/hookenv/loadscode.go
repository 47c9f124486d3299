package hookenv

import (
	"slices"
	"strings"
)

// Variables whose value makes a program load code or start another program. A name
// that begins like a family's name belongs to that family. A harmless variable of a
// family costs its user a wrapper script; one that is missing here costs a guard.
var (
	codeVariables = []string{
		"ENV", "SHELLOPTS", "BASHOPTS", "PS4", "IFS", "PROMPT_COMMAND", "ZDOTDIR", "FPATH", "CDPATH", "PATH",
		"CLASSPATH", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS", "JAVA_HOME",
		"GCONV_PATH", "LOCPATH", "NLSPATH", "GLIBC_TUNABLES", "MAKEFLAGS", "MAKEFILES", "GNUMAKEFLAGS", "MFLAGS",
		"EDITOR", "VISUAL", "PAGER", "BROWSER", "SHELL", "TCLLIBPATH", "GUILE_LOAD_PATH", "GUILE_LOAD_COMPILED_PATH",
		"PHPRC", "PHP_INI_SCAN_DIR", "AWKPATH", "AWKLIBPATH", "HOME", "TERMINFO", "TERMINFO_DIRS", "TERMCAP",
	}
	codeFamilies = []string{
		"LD_", "DYLD_", "BASH_", "PYTHON", "PERL", "RUBY", "GEM_", "BUNDLE_", "NODE_", "NPM_CONFIG_", "npm_config_", "COREPACK_",
		"BUN_", "DENO_", "YARN_", "PNPM_", "LUA_", "R_", "GIT_", "SSH_ASKPASS", "ERL_", "ELIXIR_", "DOTNET_", "CORECLR_", "COR_", "COMPLUS_",
		"OPENSSL_", "UV_", "PIP_", "VIRTUAL_ENV", "CONDA_", "PYENV_", "RBENV_", "NODENV_", "NVM_", "ASDF_", "MISE_", "GOPATH", "GOROOT", "GOFLAGS", "GOBIN", "GOPROXY", "GOENV", "GOTOOLCHAIN", "CARGO_", "RUST",
		"GTK_", "QT_", "MALLOC_", "ASAN_", "LSAN_", "TSAN_", "UBSAN_", "PSModulePath", "COMSPEC",
	}
)

// harmless lists the much used variables of those families that load nothing.
var harmless = []string{
	"NODE_ENV", "NODE_EXTRA_CA_CERTS", "PYTHONUNBUFFERED", "PYTHONIOENCODING", "PYTHONUTF8", "PYTHONDONTWRITEBYTECODE", "PYTHONHASHSEED",
	"PYTHONNOUSERSITE", "PYTHONSAFEPATH", "RUST_LOG", "RUST_BACKTRACE", "GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL",
}

// LoadsCode reports whether a variable can make a program run code that its value
// names.
func LoadsCode(name string) bool {
	if sameName(harmless, name) {
		return false
	}
	return sameName(codeVariables, name) || slices.ContainsFunc(codeFamilies, func(family string) bool { return strings.HasPrefix(name, family) })
}
