"""Generate production-like ZCode logs of any size, for measuring ingest, storage and pages.

    python benchmarks/generate_logs.py --mb 1000 --out DIR
    python benchmarks/generate_logs.py --long-session 1500 --out DIR

Writes `DIR/rollout/model-io-<session>.jsonl` (formats/zcode.md section 3: windowed lines of up to
64 messages, 40 KB of tools on every line), `DIR/log/zcode-<date>.jsonl` (section 2) and
`DIR/manifest.json` with the sizes. The same seed gives the same bytes. Every message is made and
serialised once, and lines are joined from those bytes, so memory and time stay small.
"""

import argparse
import json
import random
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import accumulate
from pathlib import Path
from typing import Any, BinaryIO

WINDOW = 64
FILE_BYTES, DEVELOPMENT_FILE_BYTES = 62_000_000, 240_000_000
"""Below the sizes at which a file is overwritten (section 3.2)."""
CONTEXT_BYTES = 1_200_000
"""A prompt above this is compacted, at some 300,000 tokens."""
LINE_BYTES, WINDOW_BYTES = 60_000, 160_000
"""What a line weighs beside its window, and what 64 messages weigh at scale 1; rounded up."""
SMALLEST_SCALE = 0.3
BYTES_PER_TOKEN = 4
TOOL_NAMES = ("Read", "Bash", "Edit", "Grep", "Glob", "Write", "WebFetch", "TodoWrite")
MODEL = {"modelId": "model-y", "providerId": "provider-x"}
MARKER = b',"cacheControl":{"type":"ephemeral"}}'

COMMON_WORDS = """
the of to and a in is it that for on with as this are be at from or an not by can if we was which
will when use all has one so there but out up then them these some into time do only its no other
more any my new should file test code run line must each call value error change does return first
after before where between because same last need now how what why here set get add also than make
still way read write list name type data key while two part both case work found next left right old
every without instead already never always about over under again back show check look seems means
"""
VERBS = """
act adapt alloc append assert attach await bind bound buffer build bundle cast catch chain channel
clean clone close collect compact compare compile compute config connect consume context convert
copy count cover create debug decode defer delete deliver depend describe detach detect diff
dispatch draw drop emit encode escape expand export extend extract fail fetch fill filter find
flatten flush fold format forward freeze generate group guard handle hash import infer inject insert
inspect install invoke join layer limit link load lock map mark match migrate mock mount move nest
"""
STEMS = VERBS.split()
SUFFIXES = ("es", "ed", "ing", "er", "able", "ement", "eless", "ion", "ers", "ings")
PREFIXES = ("re", "un", "pre", "non", "multi", "sub", "auto")
CHINESE = (
    "我们文件函数测试代码运行错误修改返回检查需要请求缓存消息工具结果问题数据表格查询更新删除增加模型"
    "会话文档说明端口网络连接失败成功重试超时配置参数类型变量循环条件判断输出输入格式解析编码目录路径"
    "版本提交分支合并冲突日志记录跟踪性能内存磁盘线程进程任务队列窗口页面按钮显示用户权限密钥安全部署"
    "构建依赖模块接口实现抽象继承对象数组整数已经因为所以但是如果然后最后首先目前可能应该必须不能没有"
)
CODE_LINES = (
    "    {a} = {b}.{c}({a}, {n})",
    "    if {a} is None or {b} < {n}:",
    '        raise ValueError(f"{a}: {{{b}!r}} is not a {w}")',
    "def {a}({b}: str, {c}: int = {n}) -> list[{w}]:",
    '    """{w} the {x} of {b} before {c}."""',
    "    for {b} in sorted({a}.{c}()):",
    "export async function {a}({b}: {w}[], {c} = {n}) {{",
    "  const {{ {a}, {b} }} = await {c}('{x}/{w}.ts')",
    "  // {x} {w}: see {a} and {b}",
    "from {x}.{w} import {a}, {b}",
    "",
    "    assert {a}({b}) == [{n}, {c}]",
)
LISTING_LINES = (
    "src/{x}/{w}/{a}.ts:{n}:  const {b} = {c}({a})",
    "-rw-r--r--  1 dev  dev  {n:>7} Jan {d:>2} 09:{d:02} {x}-{w}.{a}.json",
    "[2026-01-{d:02}T09:{d:02}:17.{d:02}4Z] {w} {x}: {a} finished in {n} ms ({b})",
    "+    {a} = {b}[{n}]  # {x}",
    "PASS tests/{x}/{a}_test.py::test_{b}_{w} ({d}.{n}s)",
    "{h:010x}  {x}/{w}/{c}.py",
)
JSON_LINES = (
    '    {{"id": {n}, "{a}": "{w} {x}", "path": "/{x}/{b}.ts", "score": 0.{n}, "ok": true}},',
    '    {{"{b}": {{"sha": "{h:010x}", "count": {d}, "{c}": null, "tags": ["{w}", "{x}"]}}}},',
)


def _vocabulary() -> list[str]:
    """Return some 5,000 words, the commonest first: English, built forms, invented words."""
    rng = random.Random("vocabulary")
    plain = [stem.removesuffix("e") + suffix for stem in STEMS for suffix in SUFFIXES]
    built = [prefix + word for prefix in PREFIXES for word in plain]
    syllables = [c + v for c in "bdfgklmnprstvz" for v in ("a", "e", "i", "o", "u", "ir", "an")]
    invented = ["".join(rng.choices(syllables, k=rng.randint(2, 4))) for _ in range(900)]
    rare = rng.sample(built, 2000) + invented
    known = STEMS + rng.sample(plain, len(plain)) + rng.sample(rare, len(rare))
    return [*dict.fromkeys(COMMON_WORDS.split() + known)]


WORDS = _vocabulary()
WEIGHTS = list(accumulate(1 / (rank + 3) ** 1.08 for rank in range(len(WORDS))))
CHINESE_WORDS = [CHINESE[i : i + 2] for i in range(0, len(CHINESE) - 1, 2)]


def dumps(value: object) -> bytes:
    """Return compact JSON as UTF-8, as JavaScript writes it."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


class Salad:
    """Makes text that costs a tokenizer about what real text costs. Sizes are in characters."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        stems = rng.choices(STEMS, k=3000)
        words = rng.choices(WORDS, cum_weights=WEIGHTS, k=3000)
        self.names = [f"{stem}_{word}" for stem, word in zip(stems, words, strict=True)]
        self.names += [f"{word}{stem.title()}" for stem, word in zip(stems, words, strict=True)]

    def prose(self, size: int) -> str:
        """Return English-like sentences with some names in backquotes and paragraphs."""
        random01, sentences, start = self.rng.random, [], 0
        words = self.rng.choices(WORDS, cum_weights=WEIGHTS, k=size // 5 + 1)
        while start < len(words):
            end = start + 6 + int(random01() * 14)
            name = f" `{self.rng.choice(self.names)}`" if random01() < 0.4 else ""
            text = " ".join(words[start:end]) + name
            sentences.append(text[0].upper() + text[1:] + (".\n\n" if random01() < 0.15 else ". "))
            start = end
        return "".join(sentences)[:size]

    def chinese(self, size: int) -> str:
        """Return Chinese clauses mixed with names, as in bilingual projects."""
        clauses, random01 = [], self.rng.random
        for _ in range(size // 10 + 1):
            clauses += self.rng.choices(CHINESE_WORDS, k=3 + int(random01() * 4))
            if random01() < 0.3:
                clauses.append(f" {self.rng.choice(self.names)} ")
            clauses.append("。\n" if random01() < 0.2 else "，")
        return "".join(clauses)[:size]

    def lines(self, templates: tuple[str, ...], size: int, numbered: bool = False) -> str:
        """Return filled-in template lines, numbered like the output of a Read tool if asked."""
        count = size // 40 + 1
        rng, out = self.rng, []
        names = iter(rng.choices(self.names, k=3 * count))
        words = iter(rng.choices(WORDS, cum_weights=WEIGHTS, k=2 * count))
        for number, template in enumerate(rng.choices(templates, k=count), rng.randint(1, 900)):
            bits = rng.getrandbits(40)
            texts = {"a": next(names), "b": next(names), "c": next(names)}
            texts |= {"w": next(words), "x": next(words)}
            line = template.format(n=bits % 9973, d=bits % 28 + 1, h=bits, **texts)
            out.append(f"{number:>6}\t{line}" if numbered else line)
        return "\n".join(out)[:size]

    def tool_output(self, size: int) -> str:
        """Return what a tool returns: mostly code, then listings, JSON, prose, Chinese."""
        draw = self.rng.random()
        if draw < 0.45:
            return self.lines(CODE_LINES, size, numbered=True)
        if draw < 0.68:
            return self.lines(LISTING_LINES, size)
        if draw < 0.85:
            return '{"results": [\n' + self.lines(JSON_LINES, size)
        return self.talk(size)

    def talk(self, size: int) -> str:
        """Return what people and models write: English, sometimes Chinese."""
        return self.chinese(size) if self.rng.random() < 0.15 else self.prose(size)

    def size(self, mean: float) -> int:
        """Return a size between 100 and 8,000 with a long tail."""
        return int(min(8000, max(100, self.rng.lognormvariate(0, 0.8) * mean / 1.38)))


def make_tools(seed: str) -> list[dict[str, Any]]:
    """Return `body.tools`: 40 schemas that make some 40 KB of JSON."""
    salad = Salad(random.Random(f"{seed}/tools"))
    servers = [f"mcp__{a}__{b}" for a, b in zip(STEMS[:32], STEMS[-32:], strict=True)]
    tools = []
    for name in (*TOOL_NAMES, *servers):
        texts = [{"type": "string", "description": salad.prose(70)} for _ in range(4)]
        fields = dict(zip(salad.rng.choices(salad.names, k=4), texts, strict=True))
        schema = {"type": "object", "properties": fields, "required": list(fields)[:2]}
        tools.append({"name": name, "description": salad.prose(450), "input_schema": schema})
    return tools


@dataclass
class Totals:
    """What was written, for the manifest."""

    total_bytes: int = 0
    model_io_bytes: int = 0
    log_bytes: int = 0
    expanded_prompt_bytes: int = 0
    """Sum over requests of the whole prompt's JSON: tools + all messages (system ones first)."""
    unique_message_bytes: int = 0
    """Every message once, without its marker."""
    sessions: int = 0
    requests: int = 0
    messages: int = 0
    files: list[str] = field(default_factory=list)


class Output:
    """The folder: one model-I/O file at a time, and one structured log per UTC day."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.totals = Totals()
        self._log: BinaryIO | None = None
        self._date = ""
        for name in ("rollout", "log"):
            (folder / name).mkdir(parents=True)

    def log(self, line: dict[str, Any]) -> None:
        """Append a line to the structured log of its day (section 2.3)."""
        timestamp = line["timestamp"]
        if timestamp[:10] != self._date:
            self.close()
            self._date = timestamp[:10]
            self._log = self.open(f"log/zcode-{self._date}.jsonl")
        assert self._log is not None
        self.totals.log_bytes += self._log.write(dumps(line) + b"\n")

    def close(self) -> None:
        """Close the structured log."""
        if self._log is not None:
            self._log.close()

    def open(self, name: str) -> BinaryIO:
        """Open a new file and return it; the caller closes it."""
        self.totals.files.append(name)
        return (self.folder / name).open("wb", buffering=1 << 20)


class Conversation:
    """A message list kept as serialised messages, without the moving marker (rule P7)."""

    def __init__(self, salad: Salad, scale: float, totals: Totals) -> None:
        self.salad, self.scale, self.totals = salad, scale, totals
        texts = ["\n" * i + salad.prose(size) for i, size in enumerate((42, 1200, 5400))]
        cached = {"cache_control": {"type": "ephemeral"}}
        self.body_system = [{"type": "text", "text": text, **cached} for text in texts]
        self.messages: list[bytes] = []
        self.size = 0
        for text in texts:
            self.add(dumps({"role": "system", "content": text})[:-1] + MARKER)
        self.add_prompt()

    def add(self, message: bytes) -> None:
        """Append a serialised message."""
        self.messages.append(message)
        self.size += len(message) + 1
        self.totals.unique_message_bytes += len(message)
        self.totals.messages += 1

    def add_prompt(self) -> None:
        """Append a reminder and what the user says."""
        salad = self.salad
        note = f"<system-reminder>\n{salad.talk(salad.size(900 * self.scale))}\n</system-reminder>"
        for text in (note, salad.talk(salad.size(700 * self.scale))):
            self.add(dumps({"role": "user", "content": text}))

    def add_results(self, reply: dict[str, Any]) -> None:
        """Append the reply and the result of each of its tool calls."""
        self.add(dumps(reply))
        for call in reply.get("toolCalls", ()):
            content = self.salad.tool_output(self.salad.size(2600 * self.scale))
            ids = {"toolCallId": call["id"], "toolName": call["name"]}
            self.add(dumps({"role": "tool", "content": content, **ids}))

    def compact(self, summary: str) -> None:
        """Put a summary for all but the last eight before the compaction request (section 10)."""
        kept = [*self.messages[:3], *self.messages[-9:-1]]
        self.messages = kept[:3]
        self.size = sum(len(message) + 1 for message in kept)
        self.add(dumps({"role": "user", "content": summary}))
        self.messages += kept[3:]

    def reply(self, calls: int, number: int) -> dict[str, Any]:
        """Return an assistant message with reasoning, some text and that many tool calls."""
        salad, rng = self.salad, self.salad.rng
        blocks = [{"type": "reasoning", "text": salad.talk(salad.size(900 * self.scale))}]
        if not calls or rng.random() < 0.4:
            blocks.append({"type": "text", "text": salad.talk(salad.size(500 * self.scale))})
        message: dict[str, Any] = {"role": "assistant", "content": blocks}
        for i in range(calls):
            value = {"path": f"src/{rng.choice(salad.names)}.ts", "query": salad.prose(90)}
            call = {"id": f"call_{number}_{i}", "name": rng.choice(TOOL_NAMES), "input": value}
            message.setdefault("toolCalls", []).append(call)
        return message | MODEL

    def window(self, marker_from_end: int = 1) -> tuple[str, int, bytes]:
        """Return (kind, offset, logged messages): `full` up to the window, then `tail` (3.6).

        A marker that moves at each request changes the previous last message, so the writer never
        sees a prefix it knows and never writes a delta here.
        """
        offset = max(0, len(self.messages) - WINDOW)
        logged = self.messages[offset:]
        logged[-marker_from_end] = logged[-marker_from_end][:-1] + MARKER
        return ("tail" if offset else "full"), offset, b",".join(logged)


class Session:
    """Writes one session's file and its lines of the structured log."""

    def __init__(
        self, output: Output, seed: str, start: datetime, scale: float, tools: list[dict[str, Any]]
    ) -> None:
        self.rng = random.Random(seed)
        self.output = output
        self.now = start
        self.session_id = f"sess_{self.rng.getrandbits(64):016x}"
        self.trace_id = f"trace_{self.session_id}"
        self.salad = Salad(self.rng)
        self.conversation = Conversation(self.salad, scale, output.totals)
        self.tool_bytes = len(dumps(tools))
        self.tool_names = dumps([tool["name"] for tool in tools])
        fields = {"model": "model-y", "max_tokens": 32000, "stream": True}
        self.body = dumps(fields | {"system": self.conversation.body_system, "tools": tools})
        self.requests = self.bytes = self.turn = self._last_input = 0

    def write(self, requests: int, size: int) -> None:
        """Write turns until that many requests are made or the file has that size."""
        name = f"rollout/model-io-{self.session_id}.jsonl"
        with self.output.open(name) as self.file:
            self._title()
            for calls in self._steps():
                if self.requests >= requests or self.bytes >= size:
                    break
                self._step(calls)
        self.output.totals.sessions += 1
        self.output.totals.requests += self.requests
        self.output.totals.model_io_bytes += self.bytes

    def _steps(self) -> Iterator[int]:
        """Yield the number of tool calls of each step; a turn ends with a step without any."""
        while True:
            self.turn += 1
            self._log("turn.started", "Turn started", inputLength=self.rng.randint(20, 2000))
            yield from (self.rng.randint(2, 6) for _ in range(self.rng.randint(3, 20)))
            yield 0
            self._log("turn.completed", "Turn completed", toolCallCount=self.rng.randint(5, 90))
            self.now += timedelta(seconds=self.rng.randint(20, 400))
            self.conversation.add_prompt()

    def _step(self, calls: int) -> None:
        """Write one main request, or a compaction if the prompt has grown too long."""
        conversation = self.conversation
        if conversation.size > CONTEXT_BYTES:
            conversation.add(dumps({"role": "user", "content": "Summarise the conversation."}))
            summary = self.salad.talk(6000)
            answer = {"role": "assistant", "content": summary}
            self._record("compact", answer, *conversation.window(marker_from_end=2))
            conversation.compact(summary)
            self._last_input = 0
            return
        reply = conversation.reply(calls, self.requests)
        self._record("main_turn", reply, *conversation.window())
        conversation.add_results(reply)
        for call in reply.get("toolCalls", [])[:3]:
            self._log(None, "Tool execution completed", call["id"], toolName=call["name"])

    def _title(self) -> None:
        """Write the side query that names the session; it has its own list, without tools."""
        system = dumps({"role": "system", "content": self.salad.prose(600)})
        messages = system + b"," + dumps({"role": "user", "content": self.salad.prose(200)})
        reply = {"role": "assistant", "content": self.salad.prose(30)}
        self.output.totals.unique_message_bytes += len(messages)
        self._record("session_title", reply, "full", 0, messages)

    def _record(
        self, source: str, reply: dict[str, Any], kind: str, offset: int, messages: bytes
    ) -> None:
        """Write the line of one request (section 3.4) and its log lines."""
        title = source == "session_title"
        count = 2 if title else len(self.conversation.messages)
        prompt = len(messages) if title else self.tool_bytes + self.conversation.size
        request_id = f"{self.rng.getrandbits(128):032x}"
        started, duration = iso(self.now), self.rng.randint(1500, 20000)
        self._log("model.request.started", "Model request started", messageCount=count, iteration=0)
        self.now += timedelta(milliseconds=duration)
        top: dict[str, Any] = {"completedAt": iso(self.now), "durationMs": duration}
        top |= {"requestId": request_id, "attempt": 1, "model": MODEL}
        window = {"messageCount": count, "messagesKind": kind, "messageOffset": offset}
        end = {"response": self._response(reply, prompt, title), "sessionId": self.session_id}
        end |= {"querySource": source, "startedAt": started, "traceId": self.trace_id}
        end |= {"turnId": f"turn_{self.turn:04}", "type": "model_io"}
        parts = (
            dumps(top)[:-1],
            b',"request":{"body":',
            b'{"model":"model-y","stream":true}' if title else self.body,
            b',"headers":{"authorization":"[redacted]"},"maxOutputTokens":32000,"messages":[',
            messages,
            b'],"toolNames":',
            b"[]" if title else self.tool_names,
            b"," + dumps(window)[1:],
            b"," + dumps(end)[1:] + b"\n",
        )
        self.bytes += self.file.write(b"".join(parts))
        self.requests += 1
        self.output.totals.expanded_prompt_bytes += prompt
        ids: dict[str, Any] = {"requestId": request_id, "attempt": 1, "querySource": source}
        self._log("model.request.completed", "Model request completed", **ids)

    def _response(self, reply: dict[str, Any], prompt: int, title: bool) -> dict[str, Any]:
        """Return `response` (3.7). Reads are the last input rounded down to 64, rarely nothing."""
        given, warm = prompt // BYTES_PER_TOKEN, self.tool_bytes // BYTES_PER_TOKEN
        known = 0 if title or self.rng.random() < 0.01 else self._last_input or warm
        if not title:
            self._last_input = given
        content, calls = reply["content"], reply.get("toolCalls", [])
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        texts = {block["type"]: block["text"] for block in blocks}
        made = sum(map(len, texts.values())) // BYTES_PER_TOKEN + 1
        response: dict[str, Any] = {"finishReason": "tool-calls" if calls else "stop"}
        response |= {"headers": {}, "modelId": "model-y", "text": texts.get("text", "")}
        if "reasoning" in texts:
            response["reasoningText"] = texts["reasoning"]
        usage = {"inputTokens": given, "outputTokens": made, "totalTokens": given + made}
        usage |= {"cacheReadTokens": known // 64 * 64, "cacheWriteTokens": 0}
        return response | {"toolCalls": calls, "usage": usage}

    def _log(self, event: str | None, message: str, call_id: str = "", **context: Any) -> None:
        """Write one info line of the structured log; some have no event (section 2.3)."""
        line: dict[str, Any] = {"timestamp": iso(self.now), "level": "info"}
        line |= {"event": event} if event else {}
        line |= {"module": "core.runtime", "message": message, "traceId": self.trace_id}
        line |= {"sessionId": self.session_id, "turnId": f"turn_{self.turn:04}"}
        line |= {"toolCallId": call_id} if call_id else {}
        self.output.log(line | {"context": context})


def iso(moment: datetime) -> str:
    """Return UTC with milliseconds as JavaScript writes it."""
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def plan(mb: float, sessions: int, long_session: int) -> list[tuple[int, int, float]]:
    """Return (requests, bytes, scale of message sizes) of each session; a limit may be endless.

    A long session keeps its one file below the development limit of 256 MiB, so its messages are
    smaller. Beyond 2,200 requests they are as small as they get and the file is larger than any
    agent writes: such a session is for measuring pages.
    """
    planned = []
    if long_session:
        scale = min(1.0, (DEVELOPMENT_FILE_BYTES / long_session - LINE_BYTES) / WINDOW_BYTES)
        planned.append((long_session, sys.maxsize, max(SMALLEST_SCALE, scale)))
    if mb:
        count = sessions or int(mb * 1e6 // (0.75 * FILE_BYTES)) + 1
        size = int(mb * 1e6 / count)
        if size > FILE_BYTES:
            raise SystemExit("a session needs more than 62 MB; give more sessions")
        planned += [(sys.maxsize, size, 1.0)] * count
    return planned


def generate(folder: Path, planned: list[tuple[int, int, float]], seed: str) -> Totals:
    """Write all sessions one after the other and return the totals."""
    output, tools = Output(folder), make_tools(seed)
    now = datetime(2026, 1, 5, 8, tzinfo=UTC)
    for number, (requests, size, scale) in enumerate(planned):
        session = Session(output, f"{seed}/{number}", now, scale, tools)
        session.write(requests, size)
        now = session.now + timedelta(minutes=7)
    output.close()
    output.totals.total_bytes = output.totals.model_io_bytes + output.totals.log_bytes
    return output.totals


def main() -> None:
    """Read the command line, write the logs and the manifest, print the manifest."""
    parser = argparse.ArgumentParser(description="Generate production-like ZCode logs.")
    parser.add_argument("--out", type=Path, required=True, help="a new or empty folder")
    parser.add_argument("--mb", type=float, default=0, help="size of model I/O files (100)")
    parser.add_argument("--sessions", type=int, default=0, help="number of sessions for --mb")
    parser.add_argument("--long-session", type=int, default=0, metavar="REQUESTS")
    parser.add_argument("--seed", default="1")
    args = parser.parse_args()
    mb = args.mb or (0 if args.long_session else 100)
    planned = plan(mb, args.sessions, args.long_session)
    started = time.perf_counter()
    totals = generate(args.out, planned, args.seed)
    speed = totals.total_bytes / 1e6 / (time.perf_counter() - started)
    manifest = json.dumps(asdict(totals) | {"seed": args.seed})
    (args.out / "manifest.json").write_text(manifest + "\n")
    print(manifest)
    print(f"{speed:.0f} MB/s", file=sys.stderr)


if __name__ == "__main__":
    main()
