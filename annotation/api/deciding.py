"""Decisions by people: about annotators, tasks that stay open, and flags."""

from collections.abc import Mapping
from functools import cached_property
from types import MappingProxyType
from typing import Any

from django.shortcuts import get_object_or_404
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotation import permissions
from annotation.adjudication import decisions
from annotation.api.rows import FLAGS, TaskList
from annotation.api.running import StageCommand
from annotation.api.serializers import FlagData, TaskData
from annotation.api.studies import StudyEndpoint
from annotation.exports import rows as export_rows
from annotation.models import Flag, Judgment, Role, Stage, Task
from annotation.participants import erasure
from annotation.participants.views import ACTS, REASONED, ReasonForm, act_on
from annotation.protocols.base import Answer
from annotation.sql import fetch
from benchmarks.api.commands import Body, Command, refuse_filters
from benchmarks.api.errors import invalid, wrong_field
from benchmarks.api.forms import valid

# Annotators


class DecideAnnotatorBody(Body):
    act = serializers.ChoiceField(sorted(ACTS), help_text="`left`: they have left; `back`: they can continue.")
    reason = serializers.CharField(required=False, allow_blank=True, help_text="Not for `left` and `back`.")


class AnnotatorDecidedData(serializers.Serializer):
    annotator = serializers.CharField(help_text="A-01, A-02 …")
    result = serializers.CharField(help_text="What was done, as a sentence.")


class AnnotatorCommand(Command):
    gives: type[serializers.Serializer] = AnnotatorDecidedData
    status = 200

    def permit(self) -> None:
        self.who = permissions.annotator_for(self.user, self.kwargs["pk"], self.kwargs["number"], Role.MANAGER)


class AnnotatorDecide(AnnotatorCommand):
    """Exclude an annotator, reinstate or keep them, or mark them as left or back. Judgments are never deleted."""

    command, takes = "decide_annotator", DecideAnnotatorBody

    def act(self, given: dict[str, Any]) -> dict[str, str]:
        form, act = ReasonForm(given), given["act"]
        reason = valid(form).cleaned_data["reason"] if act in REASONED else ""
        done = act_on(self.user, self.who, act, reason)
        return {"annotator": self.who.pseudonym, "result": f"{self.who.pseudonym} {done}"}


class EraseBody(Body):
    confirm = serializers.CharField(help_text="The annotator's pseudonym, such as A-03.")


class AnnotatorErase(AnnotatorCommand):
    """Erase an annotator's personal data: name, Prolific ids and link. Their judgments stay."""

    command, takes = "erase_annotator", EraseBody

    def act(self, given: dict[str, Any]) -> dict[str, str]:
        if given["confirm"] != self.who.pseudonym:
            raise invalid([wrong_field("confirm", f"Send {self.who.pseudonym} to erase their personal data.")])
        erasure.erase(annotator=self.who, by=self.by)
        return {"annotator": self.who.pseudonym, "result": f"{self.who.pseudonym}: personal data erased."}


# Tasks


class TaskDetailData(TaskData):
    seen = serializers.CharField(help_text="A digest of its state, which changes with judgments and outcomes.")


def _task_data(view: Any, task: Task) -> dict[str, Any]:
    ((_, line),) = TaskList.lines(view, [{"pk": task.pk}], [task.pk])
    return {"id": task.pk, **line, "seen": decisions.seen(task)}


class TaskDetail(StudyEndpoint):
    """One task of a stage with its outcome."""

    operation, serializer_class = "task", TaskDetailData

    def get(self, request: Request, pk: int, position: int, task: int) -> Response:
        refuse_filters(request)
        found = get_object_or_404(Task, stage__study=self.study, stage__position=position, pk=task)
        return Response(TaskDetailData(_task_data(self, found)).data)


class _Seen(Body):
    seen = serializers.CharField(
        required=False, help_text="The task's `seen` as you last read it; 409 (`CHANGED`) if it has changed since."
    )


class DecideBody(_Seen):
    note = serializers.CharField(max_length=500, help_text="Why, in a few words.")
    answer = serializers.CharField(required=False, help_text="As in judgments: `candidate-2`, `none` …")
    content = serializers.DictField(required=False, help_text="The rest of that answer.")
    judgment = serializers.IntegerField(required=False, help_text="Instead, the id of a judgment that is right.")
    texts = serializers.DictField(child=serializers.CharField(), required=False, help_text="Instead, texts by role.")
    flagged = serializers.BooleanField(required=False, help_text="Instead, drop the item as broken material.")
    settle_flags = serializers.BooleanField(default=False)

    def validate(self, given: dict) -> dict:
        if sum(bool(given.get(name)) for name in ("answer", "judgment", "texts", "flagged")) != 1:
            raise serializers.ValidationError({"answer": ["Send one of `answer`, `judgment`, `texts` and `flagged`."]})
        return given


class _TaskCommand(StageCommand):
    gives: type[serializers.Serializer] = TaskDetailData
    status, takes, fetches = 200, _Seen, "task"
    conflicts = "The task has changed, is no longer in this stage, or does not currently allow this."
    raises: Mapping[type[Exception], str] = MappingProxyType(
        {decisions.Changed: "CHANGED", decisions.Refused: "CONFLICT"}
    )

    @property
    def stages(self) -> list[Stage]:
        return [self.stage]

    all_stages = stages  # needed by TaskList's lines

    @cached_property
    def task(self) -> Task:
        return get_object_or_404(Task, stage=self.stage, pk=self.kwargs["task"])

    def act(self, given: dict[str, Any]) -> dict[str, Any]:
        try:
            self.carry_out({"task": self.task, "by": self.by, "seen": decisions.seen(self.task), **given})
        except decisions.Unfit as why:
            fields = ("answer", "judgment", "texts")
            field = why.field if why.field in given else next((one for one in fields if given.get(one)), "")
            raise invalid([wrong_field(field, str(why), "UNFIT")]) from None
        return _task_data(self, self.task)

    def carry_out(self, given: dict[str, Any]) -> None:
        raise NotImplementedError


class TaskDecide(_TaskCommand):
    """Decide a task yourself. Later judgments do not change it."""

    command, takes = "decide_task", DecideBody

    def carry_out(self, given: dict[str, Any]) -> None:
        chosen = {name: given.pop(name, None) for name in ("answer", "content", "judgment", "texts", "flagged")}
        answer = Answer("") if chosen["flagged"] else self._answer(chosen)
        decisions.decide(
            answer=answer.label, content=answer.content, reason=decisions.FLAGGED if chosen["flagged"] else "",
            adjudicator=self.user, settles=given.pop("settle_flags"), **given,
        )  # fmt: skip

    def _answer(self, chosen: Mapping[str, Any]) -> Answer:
        if chosen["texts"]:
            return decisions.own_words(self.task, self.stage, chosen["texts"])
        if chosen["judgment"]:
            given = Judgment.objects.filter(lease__task=self.task, pk=chosen["judgment"]).first()
            if given is None:
                raise decisions.Unfit("This task has no such judgment.")
            return Answer(given.answer, given.content)
        return Answer(chosen["answer"], chosen["content"] or {})  # type: ignore[arg-type]  # checked by `decide`


class SendBackBody(_Seen):
    note = serializers.CharField(max_length=500, help_text="Why, in a few words.")


class TaskSendBack(_TaskCommand):
    """Ask for one more judgment; then the rule decides."""

    command, takes = "send_task_back", SendBackBody

    def carry_out(self, given: dict[str, Any]) -> None:
        decisions.send_back(**given)


class TaskWithdraw(_TaskCommand):
    """Withdraw an adjudicator's decision, so that the rule applies again."""

    command = "withdraw_decision"

    def carry_out(self, given: dict[str, Any]) -> None:
        decisions.withdraw(**given)


class FlagSettle(Command):
    """Record that somebody has looked at a flag. The task does not change."""

    command, gives, status = "settle_flag", FlagData, 200

    def permit(self) -> None:
        self.flag = permissions.flag_for(self.user, self.kwargs["pk"])

    def act(self, given: dict[str, Any]) -> dict[str, Any]:
        settled: Flag = decisions.settle_flag(flag=self.flag, by=self.by, settled_by=self.user)
        ((pk, *row),) = fetch(FLAGS, ids=[settled.pk])
        return {"id": pk, **export_rows.flag_line(row)}
