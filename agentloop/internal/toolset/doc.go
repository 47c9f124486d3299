// Package toolset holds the tools of an agent, as models and hooks see them.
//
// Tools of a [tool.Source] come and go: [Set.Refresh] asks the sources before agent-start
// and before each step. Tools that have come are offered after the others, tools that are
// gone are not offered.
//
// Once a hook has changed the list at agent-start, a new tool joins at the next
// agent-start only, where hooks see it before the model does. A tool that a hook left out
// of the list stays out of this session. A session that resumes it leaves out the agent's
// own tools that were left out; hooks see those of sources at agent-start again.
package toolset
