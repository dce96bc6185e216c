"""Releases: frozen versions of a validated split, from the plan to the download.

`lifecycle` has the verbs (freeze, discard, unpack) and the job, which exports the study (`annotation.exports`) and
has `build` make the release from the export and a `plan` (docs/adr/0008-releases-from-exports.md):
`benchmarks.construction.splitting` assigns items, `splitting` knows the splits in earlier versions, `formats`
and `documents` write files, `redaction` leaves out what is not public. `compare` finds the differences between two
releases, `publish` puts one on a hub, `verification` recomputes a release from its files.
`schema` lists the columns and keys of releases, and its version.
Pages are in `page`, `forms` and `views`. All but `lifecycle`, `downloads` and the pages is pure. Reports, the dashboard
and the rooms above them may import this room. Start reading at `build`.
"""
