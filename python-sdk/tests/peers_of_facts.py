"""Owns the peers that differ in the facts they send: right ones, odd ones, and wrong ones."""

from __future__ import annotations

from collections.abc import Callable

from peer_kit import RESULTS, Json, Peer, peer


@peer
def right(p: Peer) -> None:
    p.greet()
    p.serve()


@peer
def answers_after_the_facts(p: Peer) -> None:
    p.greet()
    p.subscribed()
    prompt = p.expect("session/prompt")
    message_id = prompt["params"]["messageId"]
    p.facts(*p.interval(1, message_id))
    ping = p.expect("server/ping")
    p.answer(prompt, {"messageId": message_id})
    p.answer(ping, {})
    p.serve()


@peer
def subscribes_after_the_facts(p: Peer) -> None:
    """The answer to a collect's subscribe comes behind the whole interval."""
    p.greet()
    request = p.expect("session/subscribe")
    p.facts(*p.interval(5, request["params"]["from"]["messageId"]))
    p.answer(request, p.subscription_at(13))
    p.until_end()


@peer
def cuts_everywhere(p: Peer) -> None:
    """Every byte is a write of its own, and the text holds every character that splits lines elsewhere."""
    p.greet()
    p.subscribed()
    prompt = p.expect("session/prompt")
    p.held = whole = bytearray()
    p.answer(prompt, {"messageId": prompt["params"]["messageId"]})
    p.facts(*p.interval(1, prompt["params"]["messageId"], text=prompt["params"]["content"]))
    p.held = None
    for byte in whole:
        p.write(bytes([byte]))
    p.until_end()


@peer
def turn_without_idle(p: Peer) -> None:
    """The admitting turn ends, and the agent stays busy."""
    p.greet()
    p.subscribed()
    prompt = p.expect("session/prompt")
    p.answer(prompt, {"messageId": prompt["params"]["messageId"]})
    p.facts(p.receipt(1, prompt["params"]["messageId"]), *p.turn(2, prompt["params"]["messageId"]))
    while (request := p.read()) is not None:
        match request["method"]:
            case "session/withdraw":
                p.answer(request, {"withdrawn": False})
            case "session/cancel":
                p.answer(request, {"cancelled": True, "withdrawn": []})
            case method:
                p.answer(request, RESULTS.get(method, {}))


@peer
def subscribes_behind_live_facts(p: Peer) -> None:
    """The answer to subscribe names the cursor, and comes behind facts that were committed since."""
    p.greet()
    request = p.expect("session/subscribe")
    p.facts(p.status(8, "running"), p.status(9, "idle"))
    p.answer(request, p.subscription_at(7))
    prompt = p.expect("session/prompt")
    p.answer(prompt, {"messageId": prompt["params"]["messageId"]})
    p.facts(*p.interval(10, prompt["params"]["messageId"]))
    p.until_end()


@peer
def loses_the_first_fact(p: Peer) -> None:
    """The cursor is 7, and 9 comes first."""
    p.greet()
    p.subscribed(7)
    prompt = p.expect("session/prompt")
    p.answer(prompt, {"messageId": prompt["params"]["messageId"]})
    p.facts(*p.interval(9, prompt["params"]["messageId"]))
    p.until_end()


@peer
def was_busy(p: Peer) -> None:
    """Another message's turn goes on before the receipt."""
    p.greet()
    p.subscribed(3)
    prompt = p.expect("session/prompt")
    message_id = prompt["params"]["messageId"]
    p.answer(prompt, {"messageId": message_id})
    p.facts(p.delta("before"), p.status(4, "running"), p.receipt(5, message_id), p.delta("after"), p.status(6, "idle"))
    p.serve()


@peer
def trickles(p: Peer) -> None:
    """Sends a delta for each ping."""
    p.greet()
    p.subscribed()
    prompt = p.expect("session/prompt")
    p.answer(prompt, {"messageId": prompt["params"]["messageId"]})
    p.facts(p.receipt(1, prompt["params"]["messageId"]))
    while (request := p.read()) is not None:
        p.send(p.delta("."))
        p.answer(request, RESULTS.get(request["method"], {}))


@peer
def stale_idle(p: Peer) -> None:
    """An idle and a quiescence older than the receipt come first."""
    p.greet()
    p.subscribed(7)
    prompt = p.expect("session/prompt")
    message_id = prompt["params"]["messageId"]
    p.facts(p.status(8, "running"), p.status(9, "idle"))
    p.answer(prompt, {"messageId": message_id})
    p.facts(*p.interval(10, message_id))
    p.until_end()


@peer
def speaks_of_new_things(p: Peer) -> None:
    """Unknown facts, blocks, kinds, statuses, notifications and fields."""
    p.greet()
    p.subscribed()
    prompt = p.expect("session/prompt")
    message_id = prompt["params"]["messageId"]
    p.send({"method": "weather.changed", "params": {"sky": "grey"}})
    p.send({"method": "session.moved", "params": {"subscriptionId": p.subscription}})
    blocks = [{"type": "hologram", "text": "no text"}, {"type": "text", "text": "Hi."}]
    message = {
        "turnId": "t",
        "stepId": "st",
        "outputId": "o",
        "content": blocks,
        "model": "m",
        "finish": "bored",
        "new": 1,
    }
    usage = {"inputTokens": 1, "outputTokens": 1}
    p.facts(
        p.receipt(1, message_id),
        p.fact(2, "weather/change", {"sky": "grey"}),
        p.fact(3, "assistant/message", {**message, "usage": usage}),
        p.fact(4, "turn/end", {"turnId": "t", "reason": {"kind": "paused_by_weather"}, "usage": usage}),
        p.fact(5, "agent/status", {"status": "dreaming", "activityId": "a"}),
        p.status(6, "idle", [{"kind": "tide", "harbour": "Dover"}]),
    )
    p.answer(prompt, {"messageId": message_id, "new": True})
    p.until_end()


@peer
def sends_big_frames(p: Peer) -> None:
    p.greet()
    p.subscribed()
    prompt = p.expect("session/prompt")
    p.answer(prompt, {"messageId": prompt["params"]["messageId"]})
    p.facts(*p.interval(1, prompt["params"]["messageId"], text="ä" * 8_000_000))
    p.until_end()


@peer
def holds_an_inject(p: Peer) -> None:
    p.greet()
    p.subscribed()
    p.facts(p.receipt(1, "m-1", delivery="inject"))
    p.until_end()


def given_up(p: Peer, *, withdrawn: bool, facts: Callable[[str], list[Json]], answers: bool = True) -> None:
    """Holds a run open, and says what becomes of its message."""
    p.greet()
    request = p.subscribed()
    message_id = request["params"].get("from", {}).get("messageId")
    if message_id is None:
        prompt = p.expect("session/prompt")
        message_id = prompt["params"]["messageId"]
        p.answer(prompt, {"messageId": message_id})
    p.facts(*facts(message_id))
    while (request := p.read()) is not None:
        match request["method"]:
            case "session/withdraw" if answers:
                p.answer(request, {"withdrawn": withdrawn})
            case "session/cancel":
                p.answer(request, {"cancelled": True, "withdrawn": []})
            case "server/ping":
                p.answer(request, {})
            case "shutdown":
                return
            case _:
                pass


@peer
def withdraws(p: Peer) -> None:
    given_up(p, withdrawn=True, facts=lambda message_id: [p.receipt(1, message_id)])


@peer
def shares_the_interval(p: Peer) -> None:
    """Another client's message lies in the interval."""
    given_up(p, withdrawn=False, facts=lambda message_id: [p.receipt(1, message_id), p.receipt(2, "another")])


@peer
def shares_with_a_goal(p: Peer) -> None:
    """The interval's other messages are no client's; one before it is."""
    given_up(
        p,
        withdrawn=False,
        facts=lambda message_id: [
            p.receipt(1, "earlier"),
            p.receipt(2, message_id),
            p.receipt(3, "goal:g:1", origin={"kind": "goal", "goalId": "g"}),
        ],
    )  # fmt: skip


@peer
def says_nothing_of_withdrawing(p: Peer) -> None:
    given_up(p, withdrawn=False, answers=False, facts=lambda message_id: [p.receipt(1, message_id)])


@peer
def never_subscribes(p: Peer) -> None:
    p.greet()
    while True:
        p.expect("session/subscribe")


@peer
def knows_no_message(p: Peer) -> None:
    p.greet()
    p.refuse(p.expect("session/subscribe"), "message_not_found")
    p.until_end()


@peer
def refuses_the_prompt_late(p: Peer) -> None:
    """The prompt's answer comes with the first ping, and is a refusal."""
    p.greet()
    p.subscribed()
    prompt = p.expect("session/prompt")
    ping = p.read()
    p.refuse(prompt, "session_busy")
    if ping is not None:
        p.answer(ping, {})
    p.serve()


# Whose facts are wrong.


def prompted(p: Peer, facts: Callable[[str], list[Json]]) -> None:
    p.greet()
    p.subscribed()
    prompt = p.expect("session/prompt")
    p.answer(prompt, {"messageId": prompt["params"]["messageId"]})
    p.facts(*facts(prompt["params"]["messageId"]))
    p.until_end()


@peer
def loses_a_fact(p: Peer) -> None:
    def facts(message_id: str) -> list[Json]:
        whole = p.interval(1, message_id)
        return [*whole[:4], *whole[5:]]

    prompted(p, facts)


@peer
def repeats_facts(p: Peer) -> None:
    def facts(message_id: str) -> list[Json]:
        whole = p.interval(1, message_id)
        return [*whole[:5], *whole[2:5], *whole[4:]]

    prompted(p, facts)


@peer
def sends_a_malformed_fact(p: Peer) -> None:
    def facts(message_id: str) -> list[Json]:
        return [p.receipt(1, message_id), p.fact(2, "turn/end", {"turnId": "t-1", "reason": {}}), p.status(3, "idle")]

    prompted(p, facts)


@peer
def answers_a_subscribe_and_fails_it(p: Peer) -> None:
    p.greet()
    request = p.expect("session/subscribe")
    p.held = both = bytearray()
    p.answer(request, p.subscription_at(0))
    p.facts(p.fact(1, "agent/status", {}))
    p.held = None
    p.write(both)
    p.serve()


@peer
def fails_a_subscription_before_its_answer(p: Peer) -> None:
    p.greet()
    p.expect("session/subscribe")
    p.send({"method": "session.event", "params": {}})
    p.serve()


@peer
def sends_a_fact_to_nobody(p: Peer) -> None:
    def facts(message_id: str) -> list[Json]:
        nameless = p.status(2, "idle")
        del nameless["params"]["subscriptionId"]
        return [p.receipt(1, message_id), nameless]

    prompted(p, facts)


@peer
def closes_the_session(p: Peer) -> None:
    def facts(message_id: str) -> list[Json]:
        closed = {
            "subscriptionId": p.subscription,
            "sessionId": p.session,
            "reason": "storage",
            "error": {"message": "disk full"},
        }
        return [p.receipt(1, message_id), {"method": "session.closed", "params": closed}]

    prompted(p, facts)


@peer
def history(p: Peer) -> None:
    """Serves 2,500 facts of history behind any cursor, one of them malformed; then waits."""
    p.greet()
    while (request := p.read()) is not None:
        if request["method"] == "session/subscribe":
            p.subscription, p.session = request["params"]["subscriptionId"], request["params"]["sessionId"]
            p.answer(request, p.subscription_at(2500))
            after = request["params"]["after"]
            p.facts(
                *(p.fact(seq, "tool/start", {"callId": 0 if seq == 1234 else "c"}) for seq in range(after + 1, 2501))
            )
        else:
            p.answer(request, RESULTS.get(request["method"], {}))


@peer
def has_a_hole(p: Peer) -> None:
    p.greet()
    p.subscribed(8)
    p.facts(*(p.fact(seq, "tool/start", {"callId": "c"}) for seq in (4, 7, 8)))
    p.serve()


@peer
def closes_a_watched_session(p: Peer) -> None:
    p.greet()
    p.subscribed(1)
    closed = {"subscriptionId": p.subscription, "sessionId": p.session, "reason": "storage"}
    p.facts(p.fact(1, "tool/start", {"callId": "c"}), {"method": "session.closed", "params": closed})
    p.serve()


@peer
def has_pages(p: Peer) -> None:
    p.greet()
    for page in (1, 2, 3):
        request = p.expect("session/messages")
        message: Json = {"role": "user", "content": [], "seq": page}
        p.answer(request, {"messages": [message], **({} if page == 3 else {"nextCursor": str(page)})})
    p.serve()
