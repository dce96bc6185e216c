"""Studies of one stage become the first stage of a pipeline: names, seats, what tasks show, outcomes."""

from collections import Counter

from django.db import migrations

import annotation.models.study

FILL = """
UPDATE annotation_stage SET name = protocol;
UPDATE annotation_task task SET overlap = stage.overlap, shows = ARRAY['caption-negative-0']
FROM annotation_stage stage WHERE stage.id = task.stage_id;
UPDATE annotation_annotator annotator SET stage_id = stage.id
FROM annotation_stage stage WHERE stage.study_id = annotator.study_id;
INSERT INTO annotation_seat (annotator_id, stage_id, read_id, ready_at, created_at)
SELECT id, stage_id, read_id, CASE WHEN read_id IS NOT NULL THEN now() END, joined_at
FROM annotation_annotator WHERE stage_id IS NOT NULL;
"""
ANSWERS = """
SELECT task.id, stage.overlap, stage.tie_rule, array_agg(judgment.answer ORDER BY judgment.created_at, judgment.id)
FROM annotation_task task JOIN annotation_stage stage ON stage.id = task.stage_id
JOIN annotation_slot slot ON slot.task_id = task.id JOIN annotation_judgment judgment ON judgment.id = slot.judgment_id
GROUP BY task.id, stage.overlap, stage.tie_rule HAVING count(*) >= stage.overlap
"""
DROPS = {"none": "no_image_fits", "cannot_judge": "cannot_judge"}


def leaders(votes):
    counts = Counter(votes)
    return [vote for vote, count in counts.items() if count == max(counts.values())]


def decide(answers, tie_rule):
    """bivlc-choose, the one protocol there was, as it decided when this migration was written."""
    if len(set(answers)) == 1:
        return answers[0], "only_answer" if len(answers) == 1 else "unanimous"
    first = leaders([answer if answer in DROPS else "any" for answer in answers])
    if len(first) > 1 and tie_rule != "first":
        return ("none" if tie_rule == "none" else ""), "tie_rule"
    if first[0] != "any":
        return first[0], "tie_rule" if len(first) > 1 else "majority"
    images = leaders([answer for answer in answers if answer not in DROPS])
    return images[0], "tie_rule" if len(first) > 1 else "first_of_equals" if len(images) > 1 else "majority"


def fill(apps, schema_editor):
    for model, names in {"Stage": ["invite"], "Study": ["screened_out_code", "no_consent_code"]}.items():
        for row in apps.get_model("annotation", model).objects.all():
            for name in names:
                make = annotation.models.study.secret_token if name == "invite" else annotation.models.study.random_code
                setattr(row, name, make())
            row.save(update_fields=names)
    Outcome = apps.get_model("annotation", "Outcome")
    with schema_editor.connection.cursor() as cursor:
        cursor.execute(FILL)
        cursor.execute(ANSWERS)
        rows = []
        for task, _, tie_rule, answers in cursor.fetchall():
            outcome, by = decide(answers, tie_rule)
            reason = DROPS.get(outcome, "" if outcome else "tie_unresolved")
            rows.append(
                Outcome(task_id=task, state="dropped" if reason else "kept", outcome=outcome, reason=reason, by=by)
            )
    Outcome.objects.bulk_create(rows, batch_size=2000)


class Migration(migrations.Migration):
    dependencies = [("annotation", "0003_stages")]
    operations = [migrations.RunPython(fill, migrations.RunPython.noop)]
