"""A chat endpoint that misbehaves: no answer is lost, and none is asked for twice without need."""

import json

import httpx
import pytest

from tests.builders.chat_server import ChatServer, chat_server
from workers.models import chat, endpoint, loading
from workers.models.chat import Answer, ChatName, Question, Settings, Unanswered
from workers.models.refusals import CannotScore

KEY = "sk-very-secret"
WORDS = [f"caption {number}" for number in range(6)]


@pytest.fixture(autouse=True)
def impatient(monkeypatch) -> None:
    monkeypatch.setattr(endpoint, "FIRST_WAIT", 0.001)


def questions(words=WORDS) -> list[Question]:
    asked = [[{"role": "user", "content": f"Caption: {word}"}] for word in words]
    return [Question(word, messages, Settings(0.5, 40, 7)) for word, messages in zip(words, asked, strict=True)]


def ask(server: ChatServer, words=WORDS, step=lambda count: None, timeout=1.0, parallel=3) -> dict:
    kept: dict[str, Answer | Unanswered] = {}

    def keep(question: Question, answer: Answer | Unanswered) -> None:
        assert question.key not in kept
        kept[question.key] = answer

    name = ChatName("tiny", server.address, timeout=timeout, parallel=parallel)
    try:
        endpoint.Endpoint(name, KEY).ask(questions(words), keep, step)
    except BaseException as error:
        error.kept = kept
        raise
    return kept


def failure(server: ChatServer, **how) -> CannotScore:
    with pytest.raises(CannotScore) as cannot:
        ask(server, **how)
    assert KEY not in cannot.value.advice
    return cannot.value


def test_every_fault_that_may_pass_is_tried_again(monkeypatch):
    """429 with Retry-After, 500, a timeout, nonsense, half an answer: each question ends with its own answer, once."""
    faults = [["busy", 503], [500, 500], ["slow"], ["nonsense", "no_choices"], ["half"], []]
    with chat_server(str.upper, dict(zip(WORDS, faults, strict=True))) as server:
        kept = ask(server)
        assert {word: found.text for word, found in kept.items()} == {word: word.upper() for word in WORDS}
        assert dict(server.asked) == dict(zip(WORDS, (3, 3, 2, 3, 2, 1), strict=True))
        assert set(server.answered.values()) == {1}
        assert server.keys == {f"Bearer {KEY}"}
        body = server.bodies[0]
    assert body | {"messages": []} == {"model": "tiny", "messages": [], "temperature": 0.5, "max_tokens": 40, "seed": 7}
    assert kept[WORDS[0]] == Answer("CAPTION 0", "stop", 100, 10, {"model": "tiny-1"})


def test_half_an_answer_by_its_length_is_an_answer_that_says_so():
    with chat_server(str.upper, {WORDS[0]: ["cut_off"]}) as server:
        assert ask(server)[WORDS[0]].finish == "length"


def test_a_pause_that_the_endpoint_asks_for_holds_for_all(monkeypatch):
    """While it lasts nothing is asked; a date counts as well as seconds."""
    assert endpoint._retry_after("0.5") == 0.5
    assert endpoint._retry_after("Wed, 21 Oct 2015 07:28:00 GMT") == 0
    assert endpoint._retry_after("Wed, 21 Oct 2099 07:28:00 GMT") > 10**8
    assert endpoint._retry_after("soon") is None
    with chat_server(str.upper, always="busy_for_hours") as server:
        cannot = failure(server)
        assert cannot.code == "ENDPOINT_BUSY" and "7,200 s" in cannot.advice
        assert server.asked.total() <= 3


@pytest.mark.parametrize(
    ("always", "code", "words"),
    [
        (500, "ENDPOINT_UNAVAILABLE", "5 questions in a row (no answer after 6 attempts: status 500)"),
        ("slow", "ENDPOINT_UNAVAILABLE", "it takes too long"),
        ("dripping", "ENDPOINT_UNAVAILABLE", "it takes too long"),
        ("half", "ENDPOINT_UNAVAILABLE", "the connection broke off"),
        (401, "ENDPOINT_REFUSES", "WINNOW_LLM_KEY"),
        (404, "ENDPOINT_REFUSES", "the model is “tiny”"),
        ("elsewhere", "ENDPOINT_REFUSES", "status 302"),
        ("nonsense", "ENDPOINT_REFUSES", "not in the form of chat completions"),
        ("deep", "ENDPOINT_REFUSES", "not in the form of chat completions"),
        ("deep_inside", "ENDPOINT_REFUSES", "not in the form of chat completions"),
        ("deep_error", "ENDPOINT_REFUSES", "the endpoint refuses the question (status 400)"),
        (400, "ENDPOINT_REFUSES", "status 400, “no, with the key Bearer …”"),
    ],
)
def test_a_lasting_fault_ends_in_one_sentence_without_the_key(always, code, words):
    with chat_server(str.upper, always=always) as server:
        cannot = failure(server, timeout=0.1 if always in ("slow", "dripping") else 30.0)
        assert (cannot.code, words in cannot.advice) == (code, True), cannot.advice
        assert not server.answered


def test_no_connection_is_a_sentence():
    with chat_server(str.upper) as server:
        pass
    assert "no connection" in failure(server).advice


def test_a_question_that_the_endpoint_cannot_answer_leaves_the_others():
    faults = {WORDS[1]: [400], WORDS[2]: ["nonsense"] * 9, WORDS[3]: [500] * 9, WORDS[4]: ["half"] * 9}
    with chat_server(str.upper, faults) as server:
        kept = ask(server, parallel=1)
    assert [getattr(kept[word], "reason", "")[:31] for word in WORDS] == [
        "", "the endpoint refuses the questi", "its answers are not in the form", "no answer after 6 attempts: sta",
        "no answer after 6 attempts: the", "",
    ]  # fmt: skip


@pytest.mark.parametrize("wrong", ["\0", "\ud800"])
def test_what_the_database_cannot_store_is_left_out_of_every_text_of_a_reply(wrong):
    said = {
        "choices": [{"message": {"content": [{"text": f"a{wrong}b"}]}, "finish_reason": f"st{wrong}op"}],
        "model": {f"t{wrong}": [f"{wrong}1"]},
        "system_fingerprint": f"f{wrong}",
        "usage": {},
    }
    refused = {"error": {"message": f"n{wrong}o"}}
    replies = iter([httpx.Response(200, text=json.dumps(said)), httpx.Response(400, text=json.dumps(refused))])
    model = endpoint.Endpoint(ChatName("tiny", "http://host/v1"), "", httpx.MockTransport(lambda sent: next(replies)))
    for text in (repr(model.answer(one)) for one in questions(WORDS[:2])):
        assert "\\x00" not in text and "\\ud800" not in text and "\\\\" not in text


@pytest.mark.parametrize("asked", ["Mon, 01 Jan 99999999999999999999 00:00:00 GMT", "inf", "1e999", "nan", "-", "\xff"])
def test_a_pause_until_no_time_is_none(asked):
    assert endpoint._retry_after(asked) is None


def test_cancelling_does_not_wait_for_a_pause_that_the_endpoint_asks_for(monkeypatch):
    monkeypatch.setattr(endpoint, "IDLE", 0.01)
    steps = []

    def stop(count: int) -> None:
        steps.append(count)
        raise KeyboardInterrupt

    with chat_server(str.upper, always="busy_for_minutes") as server, pytest.raises(KeyboardInterrupt):
        ask(server, step=stop)
    assert steps == [0]


def test_what_is_underway_when_one_fails_or_somebody_cancels_is_kept():
    def stop(count: int) -> None:
        raise KeyboardInterrupt

    with chat_server(str.upper) as server, pytest.raises(KeyboardInterrupt) as stopped:
        ask(server, step=stop)
    assert set(stopped.value.kept) == set(server.answered)
    with chat_server(str.upper, {WORDS[0]: [401]}) as server:
        assert set(failure(server).kept) == set(server.answered)


def test_questions_that_leave_together_all_learn_which_settings_the_endpoint_takes():
    def answer(request: httpx.Request) -> httpx.Response:
        sent = json.loads(request.content)
        for name in ("max_tokens", "temperature"):
            if name in sent:
                return httpx.Response(400, json={"error": {"message": "Unsupported.", "param": name}})
        return httpx.Response(200, json={"choices": [{"message": {"content": "A"}, "finish_reason": "stop"}]})

    kept: dict = {}
    model = endpoint.Endpoint(ChatName("m", "http://x/v1", parallel=4), transport=httpx.MockTransport(answer))
    model.ask(questions(WORDS), lambda question, found: kept.update({question.key: found}), lambda count: None)
    assert [getattr(found, "text", found) for found in kept.values()] == ["A"] * len(WORDS)


@pytest.mark.parametrize("address", ["http://host:abc/v1", "http://[::1/v1"])
def test_an_address_that_is_none_is_said_in_a_sentence(address):
    with pytest.raises(CannotScore, match="ENDPOINT_UNCLEAR"):
        chat.checked_name(ChatName("m", address))


def test_settings_that_an_endpoint_does_not_take_are_left_out_and_named():
    with chat_server(str.upper, {WORDS[0]: ["no_temperature", "other_limit"]}) as server:
        kept = ask(server, parallel=1)
        assert server.bodies[-1].keys() == {"model", "messages", "seed", "max_completion_tokens"}
    assert {found.facts.get("not_taken") for found in kept.values()} == {"temperature"}


def test_tokens_are_estimated_where_the_endpoint_does_not_count():
    answer = {"choices": [{"message": {"content": "\ud800\0 eight ch"}, "finish_reason": "stop"}]}
    transport = httpx.MockTransport(lambda request: httpx.Response(200, content=json.dumps(answer)))
    found = endpoint.Endpoint(ChatName("m", "http://x/v1"), transport=transport).answer(questions(["a"])[0])
    assert found == Answer("? eight ch", "stop", 3, 3, {"tokens": "estimated"})
    assert chat.estimated_tokens([{"text": "abcde"}, {"image_url": {}}]) == 1_002


@pytest.mark.parametrize(
    "address", ["ftp://x/v1", "x/v1", "http://", "http://a:b@x/v1", "http://x/v1?key=1", "http://x /v1"]
)
def test_an_address_that_hides_a_secret_or_is_none_is_refused(address):
    with pytest.raises(CannotScore, match="ENDPOINT_UNCLEAR"):
        chat.checked_name(ChatName("m", address))


def test_the_key_goes_only_to_addresses_that_may_have_it(monkeypatch):
    monkeypatch.setenv("WINNOW_LLM_KEY", KEY)
    mine, other = (ChatName("m", f"https://{host}/v1/") for host in ("mine", "other"))
    assert loading.load_chat(mine, ["https://mine/v1"])._key == KEY
    assert loading.load_chat(other, ["https://mine/v1"])._key == ""


def test_an_answers_key_depends_on_all_that_makes_it():
    one = [{"role": "user", "content": "a"}]
    keys = {
        chat.key_of("m", one, Settings()),
        chat.key_of("n", one, Settings()),
        chat.key_of("m", [], Settings()),
        *(chat.key_of("m", one, settings) for settings in (Settings(1), Settings(0, 9), Settings(0, 256, 1))),
    }
    assert len(keys) == 6
