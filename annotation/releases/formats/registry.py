"""Every form of a release. A new form is a file beside this one, a line here, and its name in releases.plan.FORMS."""

from annotation.releases.formats import csv, imagefolder, jsonl, parquet, source, vlmevalkit, webdataset
from annotation.releases.formats.base import Form

ALL = (parquet.FORM, imagefolder.FORM, jsonl.FORM, csv.FORM, webdataset.FORM, vlmevalkit.FORM, source.FORM)
FORMS: dict[str, Form] = {form.name: form for form in ALL}
