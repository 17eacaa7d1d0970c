"""`answer_card` and `ask_people`."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, StringConstraints

from majlis.api.bodies import Body, IdText, NewAsk, Text
from majlis.api.mcp.tool import Call, Tool
from majlis.api.routes.asks import put, until_over
from majlis.asks.answer import answer_ask
from majlis.asks.queries import AskJson
from majlis.card_kinds import AskKind
from majlis.cards.answer import submit_tool_result
from majlis.entities.caller import Caller
from majlis.errors import Invalid
from majlis.spaces.history import get_message
from majlis.spaces.shapes import MessageJson
from majlis.store.transactions import Tx


class AnswerCard(Body):
    message_id: IdText | None = Field(default=None, description="The message that shows the card.")
    ask_id: IdText | None = Field(default=None, description="Without messageId: the ask of a program.")
    run_id: IdText | None = Field(default=None, description="Without messageId: the run that waits for the answer.")
    tool_call_id: Annotated[str, StringConstraints(min_length=1, max_length=160)] | None = Field(
        default=None, description="With runId: the id of the call."
    )
    result: Any = Field(
        default=None, description="A value that matches the card's resultSchema, or just a boolean or an option."
    )
    decline: bool = Field(default=False, description="Decline to answer, if tool.mayDecline is set.")


class AskPeople(NewAsk):
    space_id: IdText | None = Field(default=None, description="Required for a new ask.")  # type: ignore[assignment]
    kind: AskKind = "text"
    question: Text = Field(default="", description="Required for a new ask.")
    ask_id: IdText | None = Field(
        default=None, description="Wait for the answers to this earlier ask, instead of a new one."
    )
    wait_seconds: Annotated[int | float, Field(ge=0, le=300)] = Field(
        default=30, description="How long this call waits for the end of the ask."
    )


async def _answer_card(call: Call, input: AnswerCard) -> MessageJson:
    return await call.entry.write(_answer, input)


def _answer(tx: Tx, caller: Caller, input: AnswerCard) -> MessageJson:
    if input.ask_id is not None:
        return get_message(tx, caller, answer_ask(tx, caller, input.ask_id, input.result)["messageId"])
    if input.run_id is not None and input.tool_call_id is not None:
        return submit_tool_result(tx, caller, input.run_id, input.tool_call_id, input.result, input.decline)
    if input.message_id is None:
        problem = "Name the card: send messageId, askId, or runId and toolCallId."
        raise Invalid("no_card", problem, {"path": "messageId"})
    message = get_message(tx, caller, input.message_id)
    tool = message.get("tool")
    if tool is not None and "ask" in tool:
        answer_ask(tx, caller, tool["ask"]["id"], input.result)
        return get_message(tx, caller, input.message_id)
    if tool is None or message["runId"] is None or tool["ui"] is None:
        raise Invalid("not_a_card", f"The message {input.message_id} shows no card.", {"path": "messageId"})
    return submit_tool_result(tx, caller, message["runId"], tool["callId"], input.result, input.decline)


async def _ask_people(call: Call, input: AskPeople) -> AskJson:
    (await call.entry.caller()).require_scope("read")
    ask_id = input.ask_id
    if ask_id is None:
        if input.space_id is None or not input.question:
            path = "question" if input.space_id else "spaceId"
            raise Invalid("no_question", "A new ask needs spaceId and question.", {"path": path})
        ask_id = (await put(call.entry, input, input.client_id))[0]["id"]
    return await until_over(call.gateway, call.entry, ask_id, input.wait_seconds, call.goes_on(input.wait_seconds))


ANSWER_CARD = Tool(
    "answer_card",
    "Answer a card",
    "Answer a card: a question, choice, form or approval that an agent or a program shows in a space, as a message "
    "whose tool.ui is set. Permissions and approvals need a token with the scope approve.",
    ("write", "approve"),
    AnswerCard,
    MessageJson,
    _answer_card,
)
ASK_PEOPLE = Tool(
    "ask_people",
    "Ask people",
    "Put a question, choice, form or approval to the members of a space, and wait for the answers. If the status of "
    "the result is still open, call again with its id as askId: the ask and its answers are kept. Set clientId to a "
    "new value for each ask: if a call fails, repeat it with the same clientId, and it is asked once.",
    ("write",),
    AskPeople,
    AskJson,
    _ask_people,
)
