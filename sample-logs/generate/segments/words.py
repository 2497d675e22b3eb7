"""What the agent says: its rules, guides, skills and notes, in two languages."""

from dataclasses import dataclass

from generate.text import Json


@dataclass(frozen=True)
class Words:
    """The texts of one person's agent."""

    project: str
    cwd: str
    rules: str
    tool_guidance: str
    transaction_rules: str
    instructions: str
    collaboration: str
    guides: dict[str, str]
    skills: dict[str, tuple[str, str]]
    tasks: tuple[str, ...]
    replies: tuple[str, ...]
    results: tuple[str, ...]
    todo: str
    repair: str
    reason_off: str
    reason_on: str
    summary: str
    attachment: str
    answer: str
    guidance: str
    recovery: str
    ignored: str


ENGLISH = Words(
    project="orchard-map",
    cwd="/home/mira/orchard-map",
    rules=(
        "You keep the map of a community orchard. Read before you write. Never guess where a tree "
        "stands: look it up, or ask. Say what you changed and why."
    ),
    tool_guidance="Use read_file before write_file. Run tests after every change to `geo/`.",
    transaction_rules=(
        "A long file is written in a transaction: open it, append pieces in order, close it. Never "
        "skip a piece; after a failure go on from `nextIndex`."
    ),
    instructions="Metric units only. Names of trees in English and Latin.",
    collaboration="Helpers: surveyor (reads photographs), gardener (knows the pruning calendar).",
    guides={
        "browser": (
            "Browser guide. One page at a time is open; say which page a fact comes from.\n"
            "Never fill in a form without having asked."
        ),
        "human": (
            "Questions guide. Ask one thing at a time, with at most three answers to choose from.\n"
            "An answer that comes late still counts."
        ),
        "web": (
            "Web guide. Search with few words and open at most three results a question.\n"
            "Quote the address of a page beside what you took from it."
        ),
    },
    skills={
        "grafting": (
            "How to record a graft between two trees.",
            "Grafting. 1. Find both trees by their tags. 2. Record scion and stock apart. "
            "3. A graft younger than one winter is `pending`.",
        ),
        "survey": (
            "How to enter a survey of one row.",
            "Survey. Walk a row from north to south. Enter girth at 1.3 m, health from 1 to 5, and "
            "a photograph for anything below 3.",
        ),
        "labels": (
            "How to print the labels of a row.",
            "Labels. Sort by position, not by name. Forty to a sheet; leave the last row free.",
        ),
    },
    tasks=(
        "Tree 214 is drawn in the pond. Where should it be?",
        "Enter the survey of row C, please.",
        "Why does the export leave out the quinces?",
        "Add the two new pears beside the gate.",
        "Which trees have not been pruned since autumn?",
    ),
    replies=(
        "I'll look that up in the table of positions.",
        "The position has its two numbers swapped; swapping them back puts the tree beside row C.",
        "Done. The test of the table passes, and the export has one more tree than before.",
        "Checking the rest of the row before I change anything.",
    ),
    results=(
        "214;apple;Malus domestica;52.1041;8.9127\n215;apple;Malus domestica;8.9131;52.1042",
        "ran 18 tests, all passed",
        "geo/export.py:31: if tree.kind in KNOWN:\ngeo/kinds.py:4: KNOWN = {'apple', 'pear'}",
        "3 rows, 41 trees, 2 without a tag",
    ),
    todo="Open: 1. swap the numbers of tree 215. 2. run the tests. 3. tell Mira which rows.",
    repair="Your last call did not parse: `path` was missing. Send it again with every field.",
    reason_off="The person switched {name} off in the settings.",
    reason_on="The person switched {name} on in the settings.",
    summary="Tree 214 and 215 had swapped numbers; both are right again and tests pass.",
    attachment="Attached: rows.csv, 41 lines, as of this message. First line: tag;kind;lat;lon",
    answer="Answer to your question: beside the gate, to the left.",
    guidance="While you are at it, keep the old tag in the notes.",
    recovery="The process stopped here and went on 20 s later; nothing was half written.",
    ignored="The question about the hedge was closed without an answer.",
)

CHINESE = Words(
    project="茶账",
    cwd="/home/lin/茶账",
    rules="你替一家小茶庄记账。先看再写,不要猜数量;查不到就问。改了什么,为什么改,都要说清楚。",
    tool_guidance="写文件以前先读文件。改了 `账/` 以后要跑一遍核对。",
    transaction_rules="长文件分段写:先打开,按次序追加,最后关闭。失败以后从 `nextIndex` 接着写。",
    instructions="金额一律用人民币,日期用公历。",
    collaboration="帮手:验货(看照片)、掌柜(懂行情)。",
    guides={
        "browser": "浏览器说明。一次只开一页,引用时写明出自哪一页。\n没有问过不要填表。",
        "human": "提问说明。一次只问一件事,最多给三个选项。\n迟来的回答也算数。",
        "web": "检索说明。用词要少,一个问题最多打开三条结果。\n用了哪一页就写上它的地址。",
    },
    skills={
        "盘点": ("怎样盘点一个仓库。", "盘点。由里到外逐架清点,称重到克;差额超过百分之二就拍照。"),
        "开票": ("怎样开一张发票。", "开票。先核对抬头与税号,金额大写,作废的要留底。"),
        "拼配": ("怎样记一次拼配。", "拼配。写明各批次的比例与水分,样茶留五十克 🍵。"),
    },
    tasks=("三号仓的龙井少了两箱,去哪儿了?", "把昨天的进货记上。", "为什么月报里没有白茶?"),
    replies=("先查进出流水。", "两箱记在了四号仓,改回来就对上了。", "记好了,核对通过,差额为零。"),
    results=("龙井;三号仓;18箱;待核", "核对 26 笔,全部相符", "账/月报.py:12: 只列绿茶与红茶"),
    todo="待办:一、改四号仓的记录。二、跑核对。三、告诉林掌柜。",
    repair="上一次调用没有写 `path`,请补全所有字段再发一次。",
    reason_off="用户在设置里关掉了 {name}。",
    reason_on="用户在设置里打开了 {name}。",
    summary="龙井两箱误记在四号仓,已改正,核对通过。",
    attachment="附件:进货.csv,共 26 行。首行:日期;茶类;箱数",
    answer="回答:放在左手第二架。",
    guidance="顺便把旧批号留在备注里。",
    recovery="程序停过二十秒,已恢复,没有写到一半的文件。",
    ignored="关于茶样的问题没有得到回答,已关闭。",
)


def tool(name: str, about: str, field: str, capability: str = "") -> Json:
    """A tool's schema; a dynamic one names its capability."""
    row: Json = {"name": name, "description": about}
    if capability:
        row["capability"] = capability
    return row | {"inputSchema": {"type": "object", "required": [field]}}


STABLE_TOOLS = (
    tool("read_file", "Read a file.", "path"),
    tool("run_tests", "Run the tests.", "filter"),
    tool("write_file", "Write a file or a piece of one.", "path"),
)

CAPABILITY_TOOLS = {
    "browser": (tool("browser_open", "Open a page.", "address", "browser"),),
    "human": (tool("ask_person", "Ask a question.", "question", "human"),),
    "web": (tool("web_search", "Search the web.", "words", "web"),),
}
