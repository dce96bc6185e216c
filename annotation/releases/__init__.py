"""Releases: frozen versions of a validated split, from the plan to the download.

`lifecycle` has the verbs (freeze, discard, unpack) and the job, which exports the study (`annotation.exports`) and
has `build` make the release of the export and a `plan` (docs/adr/0008-releases-from-exports.md):
`benchmarks.construction.splitting` deals items to splits, `splitting` knows where earlier versions had them, `formats`
and `documents` write files, `redaction` leaves out what is not public. `compare` finds what differs between two
releases, `publish` puts one on a hub, `verification` recomputes a release from its files.
`schema` says which columns and keys releases have, and the version of that.
Pages are in `page`, `forms` and `views`. All but `lifecycle`, `downloads` and the pages is pure. Reports,
the dashboard and what is above may import this room. Start reading at `build`.
"""
