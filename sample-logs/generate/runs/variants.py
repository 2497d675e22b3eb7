"""Other prefixes: a custom system prompt and a workflow actor; and a session in Chinese."""

from generate import prose
from generate.agent import Agent
from generate.project import GLM_5, GLM_47, Profile, Project, Skill
from generate.sample import Sample, finish
from generate.script import Turn, bash, edit, grep, read, say, todos
from generate.tools import CORE_NAMES, SCOUT_NAMES
from generate.world import World

THIMBLE = Project(
    name="thimble",
    agents_md="A sewing pattern calculator in Kotlin. Lengths are millimetres, always.",
    memory_index="- [Seams](seams.md): ten millimetres unless the pattern says otherwise",
    skills=(Skill("pattern-check", "Check a pattern file for open outlines.", "c/SKILL.md"),),
    branch="seams",
    commits=("9d2f0b7 Curved seams",),
    git_user="Lou Kern",
)


def prompt_variants() -> Sample:
    """A reviewer with a prompt of its own and one actor of a workflow."""
    world, root = World("prompt-variants"), THIMBLE.root
    custom = prose.CUSTOM_PROMPT.format(project=THIMBLE.name)
    reviewer = Agent(world, Profile(THIMBLE, GLM_47, CORE_NAMES, custom_prompt=custom))
    reviewer.run(
        Turn(
            "Review the last commit.",
            (
                say("", bash("git show --stat", "9d2f0b7 Curved seams\n src/Seam.kt | 12 ++--")),
                say("", read(root, "src/Seam.kt", "fun length(r: Int) = (r * 3.14).toInt()")),
                say("src/Seam.kt:1 cuts the length off; r=100 gives 314, the arc is 314.159."),
            ),
        )
    )
    world.clock.advance(42_000)
    actor = Agent(
        world,
        Profile(THIMBLE, GLM_47, SCOUT_NAMES, variant="workflow"),
        session_id=f"sess_dwf-{world.ids.uuid('session')}",
        query_source="workflow_child",
    )
    actor.run(
        Turn(
            "Node 2 of 3: list every function that returns a length as Int.",
            (
                say("", grep("fun .*Int", "src/Seam.kt:1\nsrc/Hem.kt:8")),
                say("src/Seam.kt:1 length; src/Hem.kt:8 width"),
            ),
        )
    )
    return finish(
        "prompt-variants",
        "A custom system prompt and a workflow actor",
        "Two sessions with two leading system messages each: a reviewer with a prompt of its own "
        "(no environment, no git) and a workflow actor (no product line).",
        world,
    )


CHAPU = Project(
    name="chapu",
    agents_md=(
        "# 茶谱约定 🍵\n- 代码用英文命名，注释用中文。\n"
        "- 价格以“分”为单位存整数，不得用浮点数。\n- 提交前运行 `npm test`，全部通过才算完成 ✅"
    ),
    user_agents_md="请用中文回答，语气简洁。",
    memory_index="- [产区](regions.md)：名称以省为先，例如“福建·武夷山” 🏔️",
    skills=(
        # The preview of the listing ends inside this description's first emoji.
        Skill(
            "price-check",
            "检查目录里商品的价格字段是否都是整数，🍵并列出不符合约定的文件。",
            "j/SKILL.md",
        ),
        Skill("tea-import", "从表格导入新茶，并核对产区名称。", "d/SKILL.md"),
    ),
    branch="价格",
    status=" M src/价格.ts",
    commits=("8f30c2d 修正乌龙茶分类", "a17be90 增加产区字段"),
    git_user="林小满",
)


def chinese() -> Sample:
    """A session in Chinese, with emoji in prompts, files and tool output."""
    world, root = World("chinese", development=True), CHAPU.root
    agent = Agent(world, Profile(CHAPU, GLM_5, CORE_NAMES, mcs=True))
    code = "// 单位：分\nexport function total(items: Tea[]) {\n  return sum(items) / 100; // 💰\n}"
    agent.run(
        Turn(
            "购物车总价有时会差一分钱 😕，请找出原因。",
            (
                say("先看计算总价的代码。", read(root, "src/价格.ts", code)),
                say(
                    "",
                    bash("npm test", "❌ 总价：期望 1990，得到 1989\n通过 11，失败 1", failed=True),
                    reasoning="先除以一百再取整会丢掉一分，应当始终用整数相加。",
                ),
                say("`src/价格.ts:3` 在求和之后除以 100，又被取整，所以会少一分。要我改成整数吗？"),
            ),
            title="购物车总价差一分",
        )
    )
    world.clock.advance(52_000)
    agent.run(
        Turn(
            "好，改吧 👍🏽 顺便检查一下显示部分。",
            (
                say("", todos(("总价改用整数", "in_progress"), ("检查显示 👀", "pending"))),
                say("", edit(root, "src/价格.ts", "sum(items) / 100; // 💰", "sum(items); // 💰")),
                say("", grep("formatPrice", "src/页面.ts:27: formatPrice(total) // 🧾")),
                say("", bash("npm test", "✅ 通过 12，失败 0 🎉")),
                say(
                    "总价现在以分为单位返回整数，只在 `src/页面.ts:27` 显示时换算；测试全部通过 🎉"
                ),
            ),
            prompt_hook="同事刚刚合并了“产区”分支 🌱",
        )
    )
    return finish(
        "chinese",
        "A session in Chinese with emoji",
        "Ideographs count double in the agent's estimate and emoji are two UTF-16 units, so chars, "
        "estimates and previews (one ends in half an emoji) differ from what Python counts.",
        world,
    )
