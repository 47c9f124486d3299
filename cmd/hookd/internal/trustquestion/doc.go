// Package trustquestion meets a person with one question when a project is opened of which
// something waits to be allowed.
//
// [Ask] shows what is here, by kind and name, with what each kind may do (summary.go), what a
// yes and a no lead to, and asks (ask.go). A yes counts only after all that it allows was on
// the screen: a plan that does not fit there is shown page by page first (pages.go). An empty
// line, the end of input and a terminal on which nothing can be judged are a no.
//
// What is allowed is exactly what was shown, by its hash. Everything that is shown comes from
// the project, and so is made visible.
package trustquestion
