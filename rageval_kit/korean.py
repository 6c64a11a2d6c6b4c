"""The Korean of what the kit says: the English text in the code, and what it is in Korean.

A value in braces stands in both. Its last sound is not known here, so no particle that depends on
it (이 or 가, 을 or 를) follows one.
"""

KOREAN = {
    "ok": "정상",
    "all {n} queries have the same ranking": "질의 {n}개의 순위가 모두 같습니다",
}
