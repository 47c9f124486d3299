package prove

// A Guarantee is one promise and what proves it.
type Guarantee struct {
	ID      string
	Promise string
	Proof   string // what is done, and how often
	Tests   []Test
	Fuzz    []Test // fuzz targets that count as proof, too
	AtOnce  int    // how many of its parts run at once, 0 = a few; most of their time they wait
	Alone   bool   // measures time so closely, or loads the machine so much, that nothing else may run at the same time
}

// A Test is a test function, by its package's folder.
type Test struct{ Package, Name string }

// Find returns the guarantee with an id, nil if there is none.
func Find(id string) *Guarantee {
	for i := range Guarantees {
		if Guarantees[i].ID == id {
			return &Guarantees[i]
		}
	}
	return nil
}

// Guarantees are all that hookd promises, in order.
var Guarantees = []Guarantee{
	{
		ID: "G1", Promise: "an event never waits longer than its limit and budget, whatever the hook does", Alone: true, AtOnce: 12,
		Proof: "every fault of the kit in every mode, 25 runs: outcome at most 250 ms late; hooks that stop hookd itself: no pass, no hang; hostile conditions, changes and large files: bounded",
		Tests: []Test{{"executor", "TestLimits"}, {"test/integration", "TestFaultKitInModes"}, {"test/integration", "TestStoppingHookdChangesNoOutcome"}, {"executor/internal/match", "TestConditionIsBounded"}, {"protocol", "TestChangesAreBounded"}, {"loader", "TestUnallowedFilesAreNotHashed"}},
	},
	{
		ID: "G2", Promise: "nothing a hook started is alive after its run ended by limit, abort, error or held pipe", Alone: true,
		Proof: "8 escape shapes × 200: 0 survivors under cgroup; as sub-reaper all but the fork chain, and the report says so; as process 1, 300 events whose hooks leave orphans: 0 zombies",
		Tests: []Test{{"executor/process", "TestNothingSurvives"}, {"executor/process", "TestDedicated"}, {"test/integration", "TestFirstProcessReaps"}},
	},
	{
		ID: "G3", Promise: "every failure has a name and follows the hook's written rule",
		Proof: "12 failure kinds × 3 rules × 4 kinds of event: every cell asserted, folded and through the executor",
		Tests: []Test{{"protocol", "TestFailureMatrix"}, {"executor", "TestFailureMatrixThroughFire"}},
	},
	{
		ID: "G4", Promise: "a block is never weakened by a later hook, a reload, a late answer or an abort",
		Proof: "1,000,000 random verdict lists, 20,000 events with random latencies: 0",
		Tests: []Test{{"protocol", "TestProveABlockIsNeverWeakened"}, {"executor", "TestRefusalStands"}},
	},
	{
		ID: "G5", Promise: "the chain is deterministic; each modifier sees what came before",
		Proof: "10,000 events with random hook latencies: one distinct result each",
		Tests: []Test{{"executor", "TestOneResult"}},
	},
	{
		ID: "G6", Promise: "a hook changes only what the table allows",
		Proof: "100,000 random patches: 0 protected fields changed",
		Tests: []Test{{"protocol", "TestProveProtectedFieldsStay"}},
	},
	{
		ID: "G7", Promise: "bad output never crashes hookd and never counts as a verdict",
		Proof: "fuzzing of codec, patches, settings and headers: 0 crashes, 0 false verdicts; random wreckage of every hand-made answer",
		Tests: []Test{{"protocol/readreply", "TestWreckedAnswersAreNoVerdict"}},
		Fuzz: []Test{
			{"protocol/readreply", "FuzzReadReply"}, {"protocol", "FuzzDecodeEvent"}, {"protocol", "FuzzPatch"}, {"protocol", "FuzzMerge"}, {"protocol/readreply", "FuzzFold"},
			{"loader", "FuzzSettingsJSON"}, {"loader", "FuzzSettingsYAML"}, {"loader", "FuzzSettingsTOML"}, {"loader/internal/discover", "FuzzParseHeader"}, {"loader/internal/discover", "FuzzAnswer"}, {"loader", "FuzzSideFile"}, {"loader/internal/records", "FuzzTrustRecords"},
			{"protocol/rpc", "FuzzReader"}, {"executor/internal/worker", "FuzzResidentLines"}, {"executor/record", "FuzzRead"}, {"executor/state", "FuzzDecode"}, {"executor/daemon", "FuzzDispatch"},
		},
	},
	{
		ID: "G8", Promise: "memory is bounded by settings, not by the hook",
		Proof: "a flood of 2 GiB on stdout, then on stderr: at most 16 MiB growth",
		Tests: []Test{{"executor/process", "TestFloods"}},
	},
	{
		ID: "G9", Promise: "no pipe deadlock",
		Proof: "payloads of 0 B to 64 MiB × reader reads all, half, none, writes first: 0 hangs",
		Tests: []Test{{"executor/process", "TestNoDeadlock"}},
	},
	{
		ID: "G10", Promise: "abort: control within 250 ms, hooks ended, no late effect", Alone: true,
		Proof: "2,000 aborts at random moments: 0 late effects, 0 survivors",
		Tests: []Test{{"executor/process", "TestAborts"}, {"executor/exechook", "TestAbortsHaveNoLateEffect"}},
	},
	{
		ID: "G11", Promise: "untrusted project code runs zero times, and a trusted guard cannot be weakened from inside the project",
		Proof: "200 hostile layouts, 14 forms of a command's words × real interpreters, 10 ways from a user's or machine's program into the project, a swap loop under hooks in place, PATH turned round under 6 interpreters: 0 executions, 0 weakenings",
		Tests: []Test{
			{"loader", "TestHostileLayouts"}, {"loader", "TestWordsOfCommandsAreWatched"}, {"loader", "TestProgramsOfUserAndMachineDoNotRunTheProject"},
			{"loader", "TestInPlaceUnderASwapLoop"}, {"loader", "TestTrustDoesNotFollowPATH"}, {"loader", "TestInterpreterLinesThatLeadInside"},
		},
	},
	{
		ID: "G12", Promise: "nothing is silent: a hook skipped, broken, mismatched or untrusted is reported with file, line, name and remedy; one bad entry never disables another",
		Proof: "60 mistakes: 60 findings",
		Tests: []Test{{"loader", "TestMistakesInEntries"}, {"loader", "TestMistakesInSettings"}},
	},
	{
		ID: "G13", Promise: "a required hook really answered, or the event does not pass",
		Proof: "500 sabotages: 0 passes",
		Tests: []Test{{"executor", "TestRequiredObserver"}, {"loader", "TestSabotagedRequiredHook"}},
	},
	{
		ID: "G14", Promise: "reload is atomic; a bad file keeps the last good set", Alone: true,
		Proof: "1,000 reloads under 20,000 events: 0 mixed, lost or doubled; 1 s from save to use",
		Tests: []Test{{"loader", "TestReloadStorm"}, {"loader", "TestReloadsUnderEvents"}},
	},
	{
		ID: "G15", Promise: "events of a session are neither lost, doubled nor reordered",
		Proof: "a soak of 1,000,000 events: 0 gaps; memory, descriptors and goroutines flat",
		Tests: []Test{{"test/integration", "TestSoak"}},
	},
	{
		ID: "G16", Promise: "the record of a decision survives a crash",
		Proof: "300 × kill -9: 0 decided events without a record; each edit, insertion or removal in the middle is found, a cut tail or rewritten chain against a head kept elsewhere",
		Tests: []Test{{"executor/record", "TestKilledWriter"}, {"executor/record", "TestTampering"}, {"test/integration", "TestKilledDaemonHasRecorded"}},
	},
	{
		ID: "G17", Promise: "hookd's death leaves no hook running",
		Proof: "200 × kill -9 of `serve` and `run`: 0 after 1 s (guardian), of `fire`: the direct child at least; also of what left its control group",
		Tests: []Test{{"executor/process", "TestGuardian"}, {"test/integration", "TestKilledHookdLeavesNoHook"}},
	},
	{
		ID: "G18", Promise: "numbers and bytes pass unchanged where no hook changed them",
		Proof: "10,000 events of integers over 2^53, exponents and unusual escapes: identical, also behind a change beside them",
		Tests: []Test{{"protocol", "TestBytesPassUnchanged"}},
	},
	{
		ID: "G19", Promise: "secrets of the host do not reach hooks or records unless named",
		Proof: "200 canaries in environment, descriptors and events: 0 seen",
		Tests: []Test{{"executor", "TestSensitive"}, {"test/integration", "TestCanariesAreNotSeen"}, {"test/integration", "TestHookdIsClosedToItsHooks"}},
	},
	{
		ID: "G20", Promise: "the managed layer cannot be weakened",
		Proof: "100 attempts by flag, env, file, symlink, order, matcher: 0",
		Tests: []Test{{"loader/internal/settings", "TestManagedSettingsCannotBeLoosened"}, {"loader", "TestManagedGuardStands"}},
	},
	{
		ID: "G21", Promise: "nothing of a project has an effect before it was allowed, its settings no more than its hooks; afterwards the allowed copy counts",
		Proof: "every settings key × an untrusted project × values that would loosen, run, reveal or disarm something: 0 effects; 100 edits of allowed settings: 0 effects before a person looked",
		Tests: []Test{{"loader", "TestSettingsOfAnUntrustedProjectHaveNoEffect"}, {"loader", "TestEditsOfAllowedSettingsHaveNoEffect"}},
	},
	{
		ID: "G22", Promise: "a lower layer never changes what a hook of a higher one is asked, answers, keeps or may take",
		Proof: "the machine's guard, redactor, counter, auditor and stop guard × the tightest, loosest and odd value of every key of every lower layer: 0 weakenings",
		Tests: []Test{{"loader", "TestHigherLayersStand"}},
	},
	{
		ID: "G23", Promise: "work is not lost",
		Proof: "1,000 rounds of 2 to 8 concurrent edits of one file of 1 KB to 10 MB, by calls side by side, several agents and three processes, of which one in three rounds is killed; 60 rounds of two runs of the real binary with sub-agents: every edit that said done is in the file, 0 torn files",
		Tests: []Test{{"agentloop/tool", "TestEditsAreNotLost"}, {"test/integration", "TestRunsLoseNoEdits"}},
	},
	{
		ID: "G24", Promise: "the end is told",
		Proof: "18 ways a run can end × 50, an observer of 300 ms and an auditor that is waited for: every due event reached both and the record, or the person read what was cut",
		Tests: []Test{{"test/integration", "TestTheEndIsTold"}},
	},
	{
		ID: "G25", Promise: "a person agrees only to what was shown, and what was agreed to is what runs",
		Proof: "500 calls with hidden tails, escapes, late changes, input before the question: 0 ran unseen",
		Tests: []Test{{"cmd/hookd/internal/chat", "TestNothingRunsUnseen"}},
	},
}
