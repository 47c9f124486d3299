package loader

import (
	"context"

	"github.com/hookd-dev/hookd/loader/internal/bundle"
	"github.com/hookd-dev/hookd/loader/internal/report"
	"github.com/hookd-dev/hookd/loader/internal/trust"
)

// survey finds and describes every hook of the project without running any.
func (l *loader) survey(ctx context.Context) (*trust.Survey, error) {
	defer l.files.Until(ctx)()
	r := report.NewReport()
	scopes := l.scopes()
	l.readDecisions(r, scopes)
	if r.Refuse != nil {
		return nil, r.Refuse
	}
	l.readSettings(r, scopes, true)
	env := l.newEnvironment(r, scopes)
	p := &trust.Survey{Report: r, Env: env, Store: l.store, TrustedIn: l.TrustedIn, Inner: env.Inner}
	if p.Inner != nil {
		scan := &scanner{Report: r, env: env, hashAll: true}
		p.Hooks, p.Resources = scan.hooks(p.Inner), scan.resources(p.Inner)
	}
	return p, ctx.Err()
}

// hashIfAllowed is the hash of the whole project as it would be once it is allowed
// with these settings, which is what hookd trust --print shows. Settings that were
// swapped meanwhile have none.
func (l *loader) hashIfAllowed(b *bundle.Bundle) string {
	p, err := l.survey(context.Background())
	if err != nil || p.Inner == nil || p.Inner.SettingsBundle == nil || p.Inner.SettingsBundle.Hash != b.Hash {
		return ""
	}
	return trust.ProjectHash(p.Inner, p.Hooks, p.Resources)
}
