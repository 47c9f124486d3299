//go:build race

package install

const raceDetector = true
