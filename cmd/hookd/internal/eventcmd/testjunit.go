package eventcmd

import (
	"encoding/xml"
	"fmt"
	"strings"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
)

// The parts of a JUnit report, in the form that continuous integration systems read.
type (
	junitSuites struct {
		XMLName  xml.Name     `xml:"testsuites"`
		Tests    int          `xml:"tests,attr"`
		Failures int          `xml:"failures,attr"`
		Errors   int          `xml:"errors,attr"`
		Time     string       `xml:"time,attr"`
		Suites   []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Errors   int         `xml:"errors,attr"`
		Time     string      `xml:"time,attr"`
		File     string      `xml:"file,attr"`
		Cases    []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Name    string      `xml:"name,attr"`
		Class   string      `xml:"classname,attr"`
		Time    string      `xml:"time,attr"`
		File    string      `xml:"file,attr,omitempty"`
		Line    int         `xml:"line,attr,omitempty"`
		Failure *junitFault `xml:"failure"`
		Error   *junitFault `xml:"error"`
		Stderr  string      `xml:"system-err,omitempty"`
	}
	junitFault struct {
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
)

// printJUnit prints a report as JUnit XML. What was not run, and what could not be read, is
// an error there: a report without it would look like one that passed.
func (cmd *tester) printJUnit(r *testReport) error {
	out := junitSuites{Time: seconds(r.TookMs)}
	for _, s := range r.suites {
		one := junitSuite{Name: show.Line(s.hook.Name), File: show.Line(s.file.Path)}
		if s.fault != nil {
			one.add(junitCase{Name: "run", Error: &junitFault{Message: show.Line(s.fault.Message), Text: show.Visible(s.fault.Hint)}})
		}
		took := 0.0
		for i := range s.results {
			one.add(junitCaseOf(s, &s.results[i]))
			took += s.results[i].TookMs
		}
		one.Time = seconds(took)
		out.add(one)
	}
	if len(r.Findings) > 0 {
		files := junitSuite{Name: "test files", Time: seconds(0)}
		for _, f := range r.Findings {
			c := junitCase{Name: show.Line(f.File), Class: "test files", File: show.Line(f.File), Time: seconds(0),
				Error: &junitFault{Message: show.Line(f.Message), Text: show.Visible(f.Remedy)}}
			if f.Line != nil {
				c.Line, c.Name = *f.Line, fmt.Sprintf("%s:%d", c.Name, *f.Line)
			}
			files.add(c)
		}
		out.add(files)
	}
	text, err := xml.MarshalIndent(out, "", "  ")
	if err != nil {
		return err
	}
	cmd.Console.Out.Raw(xml.Header + string(text) + "\n")
	return nil
}

func junitCaseOf(s *suite, result *testResult) junitCase {
	c := junitCase{Name: show.Line(result.Name), Class: show.Line(s.hook.Name), Time: seconds(result.TookMs), File: show.Line(s.file.Path), Line: result.Line}
	switch {
	case result.Error != "":
		c.Error = &junitFault{Message: show.Line(result.Error), Text: show.Visible(result.Remedy)}
	case !result.Passed:
		var what []string
		var diff strings.Builder
		fmt.Fprintln(&diff, show.Line(s.place(result)))
		for _, m := range result.Mismatches {
			what = append(what, m.What)
			fmt.Fprintf(&diff, "- %s: %s\n+ %s: %s\n", m.What, m.Want, m.What, m.Got)
		}
		c.Failure = &junitFault{Message: show.Line("differs: " + strings.Join(what, ", ")), Text: show.Visible(diff.String())}
		c.Stderr = show.Visible(result.Stderr)
	}
	return c
}

func (s *junitSuite) add(c junitCase) {
	if c.Class == "" {
		c.Class = s.Name
	}
	if c.Time == "" {
		c.Time = seconds(0)
	}
	s.Tests++
	if c.Failure != nil {
		s.Failures++
	}
	if c.Error != nil {
		s.Errors++
	}
	s.Cases = append(s.Cases, c)
}

func (s *junitSuites) add(one junitSuite) {
	s.Tests, s.Failures, s.Errors = s.Tests+one.Tests, s.Failures+one.Failures, s.Errors+one.Errors
	s.Suites = append(s.Suites, one)
}

func seconds(ms float64) string { return fmt.Sprintf("%.3f", ms/1000) }
