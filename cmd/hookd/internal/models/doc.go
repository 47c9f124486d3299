// Package models makes the model of a run from the flags and the settings.
//
// [Choose] finds the provider by the name of the model (PROVIDER:NAME), gives it the key
// from the environment and the address and headers that the settings have for it, adds
// prices, and records its traffic where that is asked for. A key goes to the provider that
// it is for and to nobody else. No provider is called before a run asks for an answer.
package models
