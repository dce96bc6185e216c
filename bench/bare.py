"""The yardstick of `bench.throughput --bare`: a click as a plain Django view, on Winnow's tables and settings.

One transaction finds the screen by its token, writes the judgment, marks its slot, and claims the next slot with SKIP
LOCKED; the answer is JSON with the next screen, rendered by Winnow's template. No middleware, and none of the laws: no
locks between two tabs, no keys that may come twice, no outcomes, seats, instructions, checks, languages or webhooks.
"""

import django
from django.conf import settings
from django.core.handlers.wsgi import WSGIHandler
from django.db import connection, transaction
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.template.loader import render_to_string
from django.urls import path

HELD = 2

ANNOTATOR = "SELECT id, stage_id FROM annotation_annotator WHERE token = %s"
FIND = """
SELECT lease.id, lease.slot_id, lease.shown, seat.read_id FROM annotation_lease lease
JOIN annotation_slot slot ON slot.id = lease.slot_id
JOIN annotation_seat seat ON seat.stage_id = slot.stage_id AND seat.annotator_id = lease.annotator_id
WHERE lease.token = %s AND lease.annotator_id = %s FOR UPDATE OF slot
"""
JUDGE = """
INSERT INTO annotation_judgment (lease_id, revision, key, digest, instructions_id, answer, content, reason, withdrawn,
                                 surplus, active_ms, elapsed_ms)
VALUES (%s, 1, %s, '', %s, %s, '{}', '', false, false, %s, %s) RETURNING id
"""
MARK = "UPDATE annotation_slot SET held_until = NULL, judgment_id = %s WHERE id = %s"
END = "UPDATE annotation_lease SET state = 'judged' WHERE id = %s"
CLAIM = """
WITH chosen AS (
  SELECT id, task_id FROM annotation_slot slot
  WHERE stage_id = %(stage)s AND annotator_id IS NULL AND reserved_id IS NULL AND live AND NOT EXISTS (
    SELECT FROM annotation_lease WHERE task_id = slot.task_id AND annotator_id = %(annotator)s AND state <> 'lapsed')
  ORDER BY rank, number LIMIT 1 FOR UPDATE SKIP LOCKED
), taken AS (
  UPDATE annotation_slot slot SET annotator_id = %(annotator)s, held_until = now() + interval '10 minutes'
  FROM chosen WHERE slot.id = chosen.id
)
INSERT INTO annotation_lease (slot_id, task_id, annotator_id, state, shown)
SELECT chosen.id, chosen.task_id, %(annotator)s, 'held', ARRAY(SELECT unnest(options) ORDER BY random())
FROM chosen JOIN annotation_task task ON task.id = chosen.task_id
RETURNING token, task_id, shown
"""
CAPTION = """
SELECT text FROM benchmarks_caption WHERE item_id = (SELECT item_id FROM annotation_task WHERE id = %s)
"""
IMAGES = """
SELECT used.role || '-' || used.position, image.opaque, image.width, image.height
FROM benchmarks_itemimage used JOIN benchmarks_image image ON image.id = used.image_id
WHERE used.item_id = (SELECT item_id FROM annotation_task WHERE id = %s)
"""


def judge(request: HttpRequest, token: str) -> JsonResponse:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(ANNOTATOR, [token])
        annotator, stage = cursor.fetchone()
        screens = [claim(cursor, annotator, stage) for _ in range(HELD)]
    return answer(screens, [])


def submit(request: HttpRequest, token: str) -> JsonResponse:
    sent = request.POST
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(ANNOTATOR, [token])
        annotator, stage = cursor.fetchone()
        cursor.execute(FIND, [sent["lease"], annotator])
        lease, slot, shown, read = cursor.fetchone()
        picked, times = shown[int(sent["answer"]) - 1], [int(sent["active"]), int(sent["elapsed"])]
        cursor.execute(JUDGE, [lease, sent["key"], read, picked, *times])
        [judgment] = cursor.fetchone()
        cursor.execute(MARK, [judgment, slot])
        cursor.execute(END, [lease])
        screen = claim(cursor, annotator, stage)
    return answer([screen], sent.getlist("have"))


def claim(cursor, annotator: int, stage: int) -> dict | None:
    cursor.execute(CLAIM, {"annotator": annotator, "stage": stage})
    if (found := cursor.fetchone()) is None:
        return None
    token, task, shown = found
    cursor.execute(CAPTION, [task])
    captions = [{"text": text} for (text,) in cursor.fetchall()]
    cursor.execute(IMAGES, [task])
    images = {name: (f"/i/{opaque}", width, height) for name, opaque, width, height in cursor.fetchall()}
    options = [
        {"url": url, "width": width, "height": height, "place": place, "called": f"Picture {place}"}
        for place, (url, width, height) in enumerate(map(images.__getitem__, shown), 1)
    ]
    context = {"lease": token, "question": "Which picture fits?", "captions": captions, "options": options}
    return {"lease": token, "html": render_to_string("judging/_pick_picture.html", context)}


def answer(screens: list[dict | None], have: list[str]) -> JsonResponse:
    new = [screen for screen in screens if screen]
    held = [*have, *(screen["lease"] for screen in new)]
    return JsonResponse({"receipt": "saved", "held": held, "screens": new})


def health(request: HttpRequest) -> HttpResponse:
    return HttpResponse("ok")


urlpatterns = [path("healthz", health), path("judge/<slug:token>/", judge), path("judge/<slug:token>/submit/", submit)]
django.setup()
settings.MIDDLEWARE, settings.ROOT_URLCONF = [], __name__
application = WSGIHandler()
