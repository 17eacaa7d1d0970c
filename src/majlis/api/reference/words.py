"""The words of the API's reference: tags, and a summary for each operation.

A description is the docstring of the route's function, or stands here if there is none.
"""

from __future__ import annotations

from typing import NamedTuple


class Words(NamedTuple):
    summary: str
    description: str = ""


ABOUT = """\
People and agents are members of spaces, and everything that they do goes through this API. All times are ISO 8601 in
UTC; ids are opaque.

**Sign in** with `Authorization: Bearer <token>`, where a token belongs to one member (`majlis token`, or
`POST /api/entities/{entity_id}/tokens`), or with the cookie of a browser session.

**Errors** all have the form `{"error": {"code", "message", "details"}}`. The code is stable. 401 means that the token
is missing or has ended, 403 that you may not do this, 404 that it does not exist or is hidden from you, 409 that the
state does not allow it, 422 that the input is invalid, with its path in `details`. 429 carries `Retry-After`.

**Retries** are safe with a `clientId`: a repeated request with the same one changes nothing and returns the first
result.

**Live events** are server-sent events at `/api/events`.
"""

TAGS = {
    "messages": ("Messages", "Post, read, edit, react and search."),
    "spaces": ("Spaces", "Where people and agents talk, with their members and settings."),
    "invites": ("Invites", "Links with which people join a space."),
    "files": ("Files", "Upload files, then send them with a message."),
    "live": ("Live events", "What happens in spaces, as server-sent events that can be resumed."),
    "runs": ("Runs", "What agents do and did, cards to answer, and open waits."),
    "asks": ("Asks", "Questions from programs to the members of a space."),
    "inbox": ("Inbox", "Events for agents: their deliveries, and how programs take those of outside agents."),
    "entities": ("Members", "People, services and agents of the gateway."),
    "tokens": ("Tokens", "Tokens, sessions and sign-in links."),
    "session": ("Session", "Sign in and out of a browser."),
    "agents": ("Agents", "Their configuration, what they remember, and pauses."),
    "usage": ("Usage", "Tokens and cost."),
    "budgets": ("Budgets", "Limits for what agents may spend in a day."),
    "audit": ("Audit", "Administrative acts, newest first."),
    "secrets": ("Secrets", "Keys that agents' configurations name, never shown again."),
    "models": ("Models", "Connected models and the hosts they may use."),
    "openai": ("OpenAI protocol", "Agents and spaces as models for clients of OpenAI's API."),
    "mcp": ("MCP", "The gateway as an MCP server."),
    "webhooks": ("Webhooks", "Other programs post into spaces and receive events."),
    "health": ("Health", "For load balancers and monitoring. No token is needed."),
    "system": ("System", "Facts about the server, for admins."),
}

# By operation id.
WORDS = {
    "messages_create": Words(
        "Post a message",
        "Stores the message, then wakes the agents that it concerns. A repeated `clientId` returns the first message "
        "with 200. `inbox` is for outside agents.",
    ),
    "messages_list_of_space": Words(
        "List messages of a space",
        "Lists messages of the space, oldest first: the newest ones, or those `before` or `after` a message.",
    ),
    "messages_get_one": Words(
        "Get a message", "Returns the message as it is now, with its reactions, files and edits."
    ),
    "messages_change": Words("Edit a message"),
    "messages_generate_again": Words("Let the agent answer again"),
    "messages_delete": Words("Delete a message"),
    "messages_get_why_of": Words("Explain a message"),
    "messages_versions": Words("List earlier texts of a message"),
    "messages_add_reaction": Words("Add a reaction"),
    "messages_remove_reaction": Words("Remove a reaction", "Removes your own reaction. Repeating it changes nothing."),
    "messages_pin_message": Words("Pin a message"),
    "messages_unpin_message": Words("Unpin a message", "Removes the pin. The message stays in the space."),
    "messages_find": Words("Search messages", "Finds messages in all spaces that you may read, newest first."),
    "spaces_create": Words("Create a space", "Creates a space. You become its first member and its admin."),
    "spaces_list_mine": Words("List your spaces"),
    "spaces_direct": Words("Open a direct conversation"),
    "spaces_list_all": Words("List all spaces"),
    "spaces_get_one": Words("Get a space", "Returns the space with its settings. 404 unless you are a member."),
    "spaces_change": Words(
        "Change a space", "Changes the fields that you send; others stay as they are. For admins of the space."
    ),
    "spaces_delete": Words(
        "Delete a space",
        "Deletes the space with its messages and files. Runs that work or wait there end. For admins of the space.",
    ),
    "spaces_pause": Words("Pause a space"),
    "spaces_resume": Words("Resume a space", "Ends the pause. Agents handle the events that arrived in the meantime."),
    "spaces_add": Words(
        "Add a member",
        "Adds a member (201), or changes the role of one (200). An agent's `addableBy` says who may add it.",
    ),
    "spaces_list_members_of": Words(
        "List members of a space", "Lists the members with their roles, and whether agents are paused."
    ),
    "spaces_remove": Words("Remove a member", "Removes yourself, or as an admin of the space another member."),
    "spaces_type_message": Words("Say that you are typing"),
    "spaces_read": Words("Mark a space as read", "Moves your read position to this message. It never moves back."),
    "spaces_list_pins_of": Words("List pinned messages"),
    "spaces_list_summaries_of": Words("List summaries of a space"),
    "spaces_enter_phase": Words(
        "Enter a phase", "Starts a phase of the work in the space, with a handover for its agents."
    ),
    "spaces_list_phases_of": Words(
        "List phases of a space", "Lists the phases that the space has entered, newest first, with their handovers."
    ),
    "invites_create": Words("Create an invite"),
    "invites_list_of_space": Words("List invites"),
    "invites_end": Words("End an invite", "Ends the invite: its link stops working. People who joined stay."),
    "files_upload": Words(
        "Upload a file", "Uploads the multipart field `file`. Send its id with a message; unused files are deleted."
    ),
    "files_list_of_space": Words("List files of a space"),
    "files_download": Words("Download a file", "Returns the content of the file. `Range` is supported."),
    "files_thumbnail": Words("Get a thumbnail"),
    "live_follow_space": Words(
        "Follow a space",
        "Streams the events of one space. With `Last-Event-ID` it first sends everything that you missed.",
    ),
    "live_follow_all": Words(
        "Follow all your spaces",
        "Streams the events of all your spaces. With `Last-Event-ID` it first sends everything that you missed.",
    ),
    "runs_list_mine": Words("List runs"),
    "runs_get_one": Words("Get a run"),
    "runs_list_steps_of": Words("List steps of a run"),
    "runs_get_context_of": Words("Get what the model was sent"),
    "runs_cancel": Words("Cancel a run"),
    "runs_post_unsent_of": Words("Post an answer that was not sent"),
    "runs_submit_result": Words("Answer a card"),
    "runs_list_failed": Words("List failed runs"),
    "runs_list_pending_calls": Words("List open cards"),
    "runs_list_open_waits": Words("List open waits"),
    "runs_get_usage_of": Words("Get the usage of an agent"),
    "runs_list_usage_by_day_of": Words("List the usage of an agent by day"),
    "asks_create": Words("Ask the members of a space"),
    "asks_get_one": Words("Get an ask"),
    "asks_answer": Words("Answer an ask"),
    "inbox_list_of_message": Words("List deliveries of a message"),
    "inbox_retry": Words("Deliver a message again"),
    "inbox_take": Words("Take events"),
    "inbox_renew": Words("Renew the lease of an event"),
    "inbox_settle": Words("Settle an event"),
    "inbox_list_of_agent": Words("List the inbox of an agent"),
    "inbox_list_cycles_of": Words("List the cycles of an agent"),
    "inbox_trigger": Words("Trigger an agent"),
    "entities_get_me": Words("Get yourself", "Returns the member whom the token or session belongs to."),
    "entities_get_preferences": Words("Get your preferences"),
    "entities_patch_preferences": Words("Change your preferences"),
    "entities_put_picture": Words("Set a picture"),
    "entities_delete_picture": Words("Remove a picture"),
    "entities_get_picture": Words("Download a picture"),
    "entities_get_push": Words("Get the key for push notifications"),
    "entities_put_push": Words("Subscribe a browser to push notifications"),
    "entities_unsubscribe_push": Words("Unsubscribe a browser"),
    "entities_put_active": Words("Tell whether you look at the app"),
    "entities_list_blocked": Words("List blocked members"),
    "entities_put_block": Words("Block a member"),
    "entities_delete_block": Words("Unblock a member", "Lets the member add you to spaces again."),
    "entities_create": Words(
        "Create a person or service",
        "Creates a person or a service. Then create a token or a sign-in link for it. For admins.",
    ),
    "entities_list_all": Words("List members of the gateway", "Lists people, services and agents."),
    "entities_get_one": Words("Get a member", "Returns a person, a service or an agent."),
    "entities_change": Words(
        "Change a member", "Changes your own name, or as an admin another member's. Owners change roles."
    ),
    "entities_delete": Words(
        "Delete a member",
        "Removes the member from all spaces and ends its tokens. Its messages stay; its name can be used again.",
    ),
    "tokens_create": Words(
        "Create a token",
        "Creates a token, which is only in this response. `scopes` limits what it may do. For the member and "
        "for admins.",
    ),
    "tokens_list_of_entity": Words("List tokens of a member", "Lists the tokens of the member, without their values."),
    "tokens_revoke": Words(
        "Revoke a token", "Revokes the token: it stops working at once, and streams that it opened end."
    ),
    "tokens_list_access_of": Words("List tokens, sessions and links"),
    "tokens_end_all": Words("Sign out everywhere"),
    "tokens_end": Words("End an access"),
    "tokens_create_sign_in_link": Words(
        "Create a sign-in link", "Creates a link that signs in one browser, once. For yourself and for admins."
    ),
    "session_sign_in": Words("Sign in"),
    "session_end": Words("Sign out", "Ends the session of this browser."),
    "agents_create": Words(
        "Create an agent",
        "Creates an agent. An error names the path of what is wrong in the configuration. For the owner and admins.",
    ),
    "agents_list_all": Words("List agents", "Lists the agents with their configurations. For the owner and admins."),
    "agents_get_config_schema": Words("Get the schema of configurations"),
    "agents_get_one": Words(
        "Get an agent", "Returns the agent with its configuration. For the agent itself, the owner and admins."
    ),
    "agents_change": Words(
        "Change an agent",
        "Changes the name or the configuration, from the next run on. Keys of `config` that you leave out "
        "stay as they are.",
    ),
    "agents_delete": Words(
        "Delete an agent", "Deletes the agent and ends its runs. Its messages stay. For the owner and admins."
    ),
    "agents_pause": Words("Pause an agent"),
    "agents_resume": Words(
        "Resume an agent", "Ends the pause. The agent handles the events that arrived in the meantime."
    ),
    "agents_get_pause": Words("Get the pause of the gateway"),
    "agents_pause_all": Words("Pause all agents"),
    "agents_resume_all": Words("Resume all agents"),
    "agents_try_out": Words("Preview a request to the model"),
    "agents_list_memories": Words("List memories of an agent"),
    "agents_put_memory": Words("Change a memory"),
    "agents_delete_memory": Words(
        "Delete a memory", "Deletes what the agent remembers under this key. For the owner and admins."
    ),
    "agents_delete_goal": Words("Delete a goal", "Deletes a goal of the agent. For the owner and admins."),
    "agents_delete_plan": Words(
        "Delete a plan", "Deletes a plan of the agent: it does not fire any more. For the owner and admins."
    ),
    "agents_delete_waits": Words("End the waits of an agent"),
    "agents_delete_inbox": Words("Empty the inbox of an agent"),
    "agents_list_goals": Words("List goals of an agent"),
    "agents_list_plans": Words("List plans of an agent"),
    "agents_list_versions": Words("List earlier configs of an agent"),
    "usage_report": Words("Report usage"),
    "budgets_list_all": Words("List budgets"),
    "budgets_replace": Words("Replace the budgets"),
    "audit_list_entries": Words("List audit entries"),
    "secrets_list_all": Words("List secrets"),
    "secrets_begin_sign_in": Words("Sign in to a remote MCP server"),
    "secrets_put": Words("Store a secret"),
    "secrets_delete": Words("Delete a secret", "Deletes the secret. Agents that use it fail until it is stored again."),
    "models_show": Words("List allowed model hosts"),
    "models_put": Words("Replace the allowed model hosts"),
    "models_list_connected": Words("List models"),
    "models_list_known": Words("List model providers"),
    "models_look": Words("List models of a provider"),
    "models_find": Words("Find local model servers"),
    "models_test": Words("Test a model"),
    "models_connect": Words("Connect a model"),
    "models_remove": Words("Remove a model"),
    "models_use": Words("Use a model"),
    "openai_list_all": Words(
        "List agents and spaces as models",
        "Lists the agents and spaces that you may use, named `agent:<name>` and `space:<name>`, in the "
        "format of OpenAI's API.",
    ),
    "openai_get_one": Words(
        "Get an agent or space as a model",
        "Returns one of the agents or spaces of `GET /v1/models`, in the format of OpenAI's API.",
    ),
    "openai_complete": Words(
        "Complete a chat",
        "Posts the last user message and returns what the agent says, or the first answer in a space. With `stream` it "
        "arrives as server-sent events. Tools of the caller are refused.",
    ),
    "mcp_speak": Words("Speak MCP"),
    "webhooks_list_all": Words("List incoming webhooks"),
    "webhooks_create": Words("Create an incoming webhook"),
    "webhooks_delete": Words("Delete an incoming webhook"),
    "webhooks_list_senders": Words("List outgoing webhooks"),
    "webhooks_create_sender": Words("Create an outgoing webhook"),
    "webhooks_delete_sender": Words("Delete an outgoing webhook"),
    "webhooks_list_deliveries": Words("List deliveries of a webhook"),
    "webhooks_retry": Words("Send a delivery again"),
    "health_get_health": Words("Get the health of the gateway"),
    "health_get_live": Words("Check that the process is alive"),
    "health_get_ready": Words("Check that the gateway is ready"),
    "system_get_system": Words("Get facts about the server"),
}

# Descriptions of parameters by name, for routes that do not describe their own.
PARAMETERS = {
    "Idempotency-Key": "Chosen by you: a repeated request with the same key is done once.",
    "Last-Event-ID": "The id of the last event that you have: the stream begins after it.",
    "X-Conversation-Id": "The conversation that this request continues.",
    "X-OpenWebUI-Chat-Id": "The conversation, as Open WebUI names it.",
    "actorId": "Only actions of this member.",
    "agentId": "Only those of this agent.",
    "agent_id": "The id of an agent.",
    "ask_id": "The id of an ask.",
    "by": "What to sum by.",
    "days": "Number of days, up to now.",
    "delivery_id": "The id of a delivery.",
    "emoji": "One emoji, percent-encoded.",
    "entity_id": "The id of a person, service or agent.",
    "file_id": "The id of a file.",
    "from": "Only entries after this time.",
    "goal_id": "The id of a goal.",
    "invite_id": "The id of an invite.",
    "key": "The key of a memory.",
    "lastEventId": "The same as `Last-Event-ID`, for clients that cannot set headers.",
    "limit": "Maximum number of results.",
    "message_id": "The id of a message.",
    "model": "The id of a model: `agent:<name or id>` or `space:<name or id>`.",
    "name": "Its name.",
    "plan_id": "The id of a plan.",
    "run_id": "The id of a run.",
    "size": "In pixels.",
    "spaceId": "Only those of this space.",
    "space_id": "The id of a space.",
    "status": "Only those with this status.",
    "token_id": "The id of a token, session or link.",
    "type": "Only members of this kind.",
    "webhook_id": "The id of a webhook.",
}
