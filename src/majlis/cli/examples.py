"""The examples in `--help` of each command. A test parses all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from typer.core import TyperGroup

if TYPE_CHECKING:
    from typer._click import Command

EXAMPLES = {
    "serve": ("majlis serve", "majlis serve --port 8080 --data-dir /srv/majlis"),
    "worker": ("majlis worker --bus-url nats://bus:4222",),
    "migrate": ("majlis migrate --data-dir /srv/majlis",),
    "backup": ("majlis backup", "majlis backup -o /backups/monday.tar"),
    "restore": ("majlis restore /backups/monday.tar --data-dir /srv/majlis",),
    "upgrade": ("majlis upgrade --check",),
    "doctor": ("majlis doctor", "majlis doctor --json"),
    "prove": ("majlis prove", "majlis prove --seed 815 --trace"),
    "new": ("majlis new", "majlis new deploy-bot", "majlis new team-vote --play"),
    "chat": ("majlis chat Lobby", "majlis chat @Sara"),
    "send": ('majlis send Lobby "Hello, everyone"', "git log -1 | majlis send Releases -"),
    "ask": ('majlis ask Releases "Ship it?" --choice yes --choice no --wait',),
    "webhook add": ("majlis webhook add https://example.com/hook --space Releases",),
    "webhook add-incoming": ("majlis webhook add-incoming GitHub --space Releases --scheme github",),
    "webhook list": ("majlis webhook list",),
    "webhook remove": ("majlis webhook remove whk_1m7gxahcpdw64b7f",),
    "webhook deliveries": ("majlis webhook deliveries whk_1m7gxahcpdw64b7f",),
    "webhook retry": ("majlis webhook retry whk_1m7gxahcpdw64b7f whd_1m7gxahcpdw64b7f",),
    "tail": ("majlis tail Lobby --lines 20",),
    "edit": ('majlis edit msg_1m7gxahcpdw64b7f "The corrected text"',),
    "delete": ("majlis delete msg_1m7gxahcpdw64b7f",),
    "react": ("majlis react msg_1m7gxahcpdw64b7f 👍",),
    "pin": ("majlis pin msg_1m7gxahcpdw64b7f",),
    "unpin": ("majlis unpin msg_1m7gxahcpdw64b7f",),
    "pins": ("majlis pins Lobby",),
    "pause": ("majlis pause Scout", "majlis pause --space Lobby", "majlis pause --all"),
    "resume": ("majlis resume Scout", "majlis resume --all"),
    "file list": ("majlis file list Lobby",),
    "file get": ("majlis file get fil_1m7gxahcpdw64b7f -o report.pdf",),
    "space list": ("majlis space list",),
    "space create": ('majlis space create Research --description "What we look into"',),
    "space rename": ("majlis space rename Research Findings",),
    "space remove": ("majlis space remove Research --yes",),
    "space show": ("majlis space show Research",),
    "space members": ("majlis space members Research",),
    "space add-member": ("majlis space add-member Research Sara --role admin",),
    "space invite": ("majlis space invite Research --uses 5",),
    "space remove-member": ("majlis space remove-member Research Sara",),
    "space policy": ("majlis space policy Research", "majlis space policy Research 'deploy*=ask'"),
    "person list": ("majlis person list",),
    "person add": ("majlis person add Sara", "majlis person add Omar --role admin"),
    "person invite": ("majlis person invite Sara",),
    "person remove": ("majlis person remove Sara",),
    "agent list": ("majlis agent list",),
    "agent add": ('majlis agent add Scout --instructions "Be brief." --space Research',),
    "agent show": ("majlis agent show Scout",),
    "agent remove": ("majlis agent remove Scout",),
    "agent set-model": (
        "majlis agent set-model Scout openai:gpt-5.2",
        "majlis agent set-model --all qwen3:8b --base-url http://127.0.0.1:8080/v1",
        "majlis agent set-model --demo gpt-5.2",
    ),
    "agent cycles": ("majlis agent cycles Scout --limit 5",),
    "agent edit": ("majlis agent edit Scout --set limits.steps=5", "majlis agent edit Scout --file scout.yaml"),
    "agent apply": ("majlis agent apply team.yaml --dry-run", "majlis agent apply team.yaml --create-spaces"),
    "agent pause": ("majlis agent pause Scout",),
    "agent resume": ("majlis agent resume Scout",),
    "model list": ("majlis model list",),
    "model providers": ("majlis model providers",),
    "model find": ("majlis model find",),
    "model add": (
        "majlis model add openai",
        "majlis model add openai:gpt-5.2 --default",
        "majlis model add anthropic:claude-sonnet-4-5 < key.txt",
        "majlis model add qwen3:8b --base-url http://192.168.1.5:11434/v1",
    ),
    "model test": ("majlis model test gpt-5.2", "majlis model test ollama:qwen3:8b"),
    "model default": ("majlis model default gpt-5.2",),
    "model remove": ("majlis model remove gpt-5.2",),
    "runs": ("majlis runs --agent Scout --status failed",),
    "run show": ("majlis run show run_1m7gxahaq9ggw2cw",),
    "run cancel": ("majlis run cancel run_1m7gxahaq9ggw2cw",),
    "usage": ("majlis usage",),
    "budget list": ("majlis budget list",),
    "budget set": ("majlis budget set agent Scout --usd 2", "majlis budget set gateway --usd 20"),
    "budget remove": ("majlis budget remove agent Scout",),
    "waits": ("majlis waits",),
    "tool list": ("majlis tool list Scout",),
    "tool test": ("""majlis tool test Scout order '{"id": "7"}'""",),
    "mcp test": ("majlis mcp test https://mcp.example.com/mcp", "majlis mcp test --agent Scout"),
    "mcp sign-in": ("majlis mcp sign-in wiki https://wiki.example.com/mcp",),
    "sign-in-link": ("majlis sign-in-link", "majlis sign-in-link Sara"),
    "token create": ("majlis token create Sara --label laptop --expires 30d", "TOKEN=$(majlis token create Sara)"),
    "token list": ("majlis token list Sara",),
    "token revoke": ("majlis token revoke tok_1m7gxahcpdw64b7f",),
    "token sign-in": ("majlis token sign-in Sara",),
    "access list": ("majlis access list Sara",),
    "access end": ("majlis access end tok_1m7gxahcpdw64b7f",),
    "access end-all": ("majlis access end-all Sara",),
    "audit": ("majlis audit --action token", "majlis audit --verify"),
    "secret set": ("majlis secret set TEAM_KEY --host api.example.com", "majlis secret set GITHUB < secret.txt"),
    "secret list": ("majlis secret list",),
    "secret remove": ("majlis secret remove TEAM_KEY",),
    "export": ("majlis export --space Lobby -o lobby.jsonl", "majlis export > gateway.jsonl"),
    "import": ("majlis import gateway.jsonl",),
}


def add_examples(command: Command, path: str) -> None:
    if isinstance(command, TyperGroup):
        for name, inner in command.commands.items():
            add_examples(inner, f"{path} {name}")
    elif path in EXAMPLES:
        # \b keeps the lines as they are.
        command.epilog = "\n".join(("\b", "Examples:", *(f"  {line}" for line in EXAMPLES[path])))
