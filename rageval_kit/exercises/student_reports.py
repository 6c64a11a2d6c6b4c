"""What a student's report says, in English or Korean: which figures, and which verdict."""

import re

CANNOT_TELL, BETTER = "cannot tell", "better"
OTHER_THAN = {CANNOT_TELL: BETTER, BETTER: CANNOT_TELL}

_FIGURE = re.compile(r"(?<![a-z0-9@.])\d+(?:\.\d+)?", re.IGNORECASE)  # not the 10 of nDCG@10
_SAYS = {
    CANNOT_TELL: r"can ?not (tell|say|decide)|can['’]t (tell|say)|판단 ?불가|판단할 수 없|알 수 없",
    BETTER: r"(?<![a-z])better(?![a-z])|더 낫|더 나은|더 나아",
}


def figures(report: str) -> set[float]:
    """Return the numbers of a report, without their signs.

    >>> sorted(figures("nDCG@10 fell by -0.03, p = 0.250, over 80 queries."))
    [0.03, 0.25, 80.0]
    """
    return set(map(float, _FIGURE.findall(report)))


def verdicts(report: str) -> set[str]:
    """Return which of CANNOT_TELL and BETTER a report says, in either language.

    >>> sorted(verdicts("Is it better? That we cannot tell."))
    ['better', 'cannot tell']
    >>> verdicts("판정은 '판단 불가'입니다.")
    {'cannot tell'}
    """
    return {said for said, words in _SAYS.items() if re.search(words, report, re.IGNORECASE)}


def verdict_of(p_holm: float) -> str:
    """Return what p after Holm's correction says: BETTER or CANNOT_TELL."""
    return BETTER if p_holm < 0.05 else CANNOT_TELL
