package protocol

import "github.com/agnivade/levenshtein"

func editDistance(a, b string) int { return levenshtein.ComputeDistance(a, b) }
