package acp

import "github.com/hookd-dev/hookd/protocol/rpc"

// Version is the protocol version of this package.
const Version = 1

// The methods that a client calls.
const (
	Initialize   = "initialize"
	Authenticate = "authenticate"

	SessionNew             = "session/new"
	SessionLoad            = "session/load"
	SessionResume          = "session/resume"
	SessionList            = "session/list"
	SessionClose           = "session/close"
	SessionDelete          = "session/delete"
	SessionSetMode         = "session/set_mode"
	SessionSetConfigOption = "session/set_config_option"
	SessionPrompt          = "session/prompt"
	SessionCancel          = "session/cancel" // a notification
)

// The methods that an agent calls.
const (
	SessionUpdate            = "session/update" // a notification
	SessionRequestPermission = "session/request_permission"
	ReadTextFile             = "fs/read_text_file"
	WriteTextFile            = "fs/write_text_file"
	TerminalCreate           = "terminal/create"
	TerminalWaitForExit      = "terminal/wait_for_exit"
	TerminalRelease          = "terminal/release"
)

// CancelRequest is a notification of either side: nobody waits for the answer of a request any
// more. It is answered all the same.
const CancelRequest = "$/cancel_request"

// The error codes of the protocol besides those of JSON-RPC.
const (
	AuthRequired     rpc.Code = -32000
	ResourceNotFound rpc.Code = -32002
	RequestCancelled          = rpc.Cancelled
)
