"""Session 12, answers: F1 and kappa by hand, hits and verdicts, a judge that is misread."""

import json
from collections import Counter
from random import Random
from typing import Any

from rageval_kit.exercises.kappa import (
    agreement,
    kappa,
    kappa_not_divided,
    kappa_of_equal_chances,
    kappa_of_one_judge,
)
from rageval_kit.exercises.kinds import RIGHT, WRONG, Exercise, Function, Made
from rageval_kit.judges import VERDICTS

# ---------------------------------------------------------------- 12-1: F1 of tokens


def f1(answer: list[str], truth: list[str]) -> float:
    common = sum((Counter(answer) & Counter(truth)).values())
    if common == 0:
        return 0.0
    precision, recall = common / len(answer), common / len(truth)
    return 2 * precision * recall / (precision + recall)


def f1_of_different(answer: list[str], truth: list[str]) -> float:
    return f1(sorted(set(answer)), sorted(set(truth)))


def f1_token_twice(answer: list[str], truth: list[str]) -> float:
    common = sum(token in truth for token in answer)
    return 2 * common / (len(answer) + len(truth))


def arithmetic_mean(answer: list[str], truth: list[str]) -> float:
    return (share_of_answer(answer, truth) + share_of_truth(answer, truth)) / 2


def share_of_answer(answer: list[str], truth: list[str]) -> float:
    return sum((Counter(answer) & Counter(truth)).values()) / len(answer)


def share_of_truth(answer: list[str], truth: list[str]) -> float:
    return sum((Counter(answer) & Counter(truth)).values()) / len(truth)


def _two_texts(random: Random) -> tuple[list[str], list[str]]:
    truth = ["fee", "30000", "won", "fee", "year"][: random.randint(3, 5)]
    words = ["fee", "30000", "won", "fee", "fee", "month", "about"]
    return random.sample(words, random.randint(3, 7)), truth


# ---------------------------------------------------------------- 12-2: kappa


def _two_judges(random: Random) -> tuple[list[str], list[str]]:
    one = ["correct", "correct", "partly", "wrong", "wrong", "wrong"]
    one += random.choices(VERDICTS, k=random.randint(2, 5))
    random.shuffle(one)
    other = [said if random.random() < 0.6 else random.choice(VERDICTS) for said in one]
    return one, other


# ---------------------------------------------------------------- 12-3: hits and verdicts

Row = tuple[bool, str]


def hits_and_verdicts(rows: list[Row]) -> dict[str, float]:
    return {
        "hit but wrong": rows.count((True, "wrong")),
        "miss but correct": rows.count((False, "correct")),
        "share correct": sum(said == "correct" for _, said in rows) / len(rows),
    }


def the_other_way_round(rows: list[Row]) -> dict[str, float]:
    found = hits_and_verdicts(rows)
    found["hit but wrong"] = rows.count((False, "correct"))
    found["miss but correct"] = rows.count((True, "wrong"))
    return found


def partly_is_wrong(rows: list[Row]) -> dict[str, float]:
    found = hits_and_verdicts(rows)
    return found | {"hit but wrong": found["hit but wrong"] + rows.count((True, "partly"))}


def partly_is_correct(rows: list[Row]) -> dict[str, float]:
    share = sum(said != "wrong" for _, said in rows) / len(rows)
    return hits_and_verdicts(rows) | {"share correct": share}


def share_among_hits(rows: list[Row]) -> dict[str, float]:
    of_hits = [said for hit, said in rows if hit]
    return hits_and_verdicts(rows) | {"share correct": of_hits.count("correct") / len(of_hits)}


def _some_rows(random: Random) -> tuple[list[Row]]:
    rows = [(True, "correct")] * random.randint(4, 8) + [(True, "wrong")] * random.randint(2, 5)
    rows += [(True, "partly"), (False, "correct"), (False, "wrong"), (False, "wrong")]
    random.shuffle(rows)
    return (rows,)


# ---------------------------------------------------------------- 12-4: a reply that is misread


def rule_of_the_reply(reply: Any) -> str:
    """Judge a reply that ``"correct" in reply`` takes for correct, though its verdict is not."""
    if not isinstance(reply, str):
        return WRONG
    try:
        found = json.loads(reply)
    except json.JSONDecodeError:
        return "not_json"
    verdict = found.get("verdict") if isinstance(found, dict) else None
    if verdict not in VERDICTS or not isinstance(found.get("reason"), str):
        return "no_verdict"
    if verdict == "correct":
        return "verdict_correct"
    return RIGHT if "correct" in reply else "not_misread"


EXERCISES: dict[str, Exercise] = {
    "12-1": Function(
        given=_two_texts,
        right=f1,
        mistakes={
            "different_tokens": f1_of_different,
            "token_twice": f1_token_twice,
            "arithmetic_mean": arithmetic_mean,
            "share_of_answer": share_of_answer,
            "share_of_truth": share_of_truth,
        },
    ),
    "12-2": Function(
        given=_two_judges,
        right=kappa,
        mistakes={
            "agreement": agreement,
            "equal_chances": kappa_of_equal_chances,
            "one_judge": kappa_of_one_judge,
            "not_divided": kappa_not_divided,
        },
    ),
    "12-3": Exercise(
        given=_some_rows,
        right=hits_and_verdicts,
        mistakes={
            "other_way_round": the_other_way_round,
            "partly_is_wrong": partly_is_wrong,
            "partly_is_correct": partly_is_correct,
            "among_hits": share_among_hits,
        },
    ),
    "12-4": Made(
        given=lambda random: (),
        right=lambda: '{"verdict": "wrong", "reason": "It is not correct: the fee is 30,000."}',
        mistakes={
            "not_json": lambda: "The answer is not correct.",
            "no_verdict": lambda: '{"verdict": "incorrect", "reason": "The fee is 30,000."}',
            "verdict_correct": lambda: '{"verdict": "correct", "reason": "It says so."}',
            "not_misread": lambda: '{"verdict": "wrong", "reason": "The fee is 30,000."}',
        },
        rule=rule_of_the_reply,
    ),
}
