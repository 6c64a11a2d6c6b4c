"""The Korean of what the kit says: the English text in the code, and what it is in Korean.

A value in braces stands in both. Its last sound is not known here, so no particle that depends on
it (이 or 가, 을 or 를) follows one.
"""

KOREAN = {
    "ok": "정상",
    "all {n} queries have the same ranking": "질의 {n}개의 순위가 모두 같습니다",
    # Plots.
    "mean over queries": "질의 평균",
    "rank": "순위",
    "score": "점수",
    "relevant": "정답",
    "← better": "← 더 좋음",
    "better →": "더 좋음 →",
    "difference": "차이",
    "95 % interval": "95 % 신뢰 구간",
    "difference, 95 % interval": "차이, 95 % 신뢰 구간",
    "{metric}: difference to {baseline}, 95 % interval": (
        "{metric}: 기준({baseline})과의 차이, 95 % 신뢰 구간"
    ),
    "baseline": "기준",
    "better": "더 낫다",
    "worse": "더 못하다",
    "cannot tell": "판단 불가",
    "better on {n}": "{n}개에서 더 낫다",
    "equal on {n}": "{n}개에서 같다",
    "worse on {n}": "{n}개에서 더 못하다",
    "{n} queries, sorted by difference": "질의 {n}개, 차이가 큰 순서",
    "unanswerable answered": "답이 없는데 답함",
    "answerable refused": "답이 있는데 거부함",
    "share of queries": "질의 비율",
    "refuse if the best hit is farther than this (distance)": (
        "첫 결과가 이보다 멀면 답하지 않는다(거리)"
    ),
    "refuse if the best hit is below this (similarity)": (
        "첫 결과가 이보다 낮으면 답하지 않는다(유사도)"
    ),
    "median milliseconds a query": "질의당 밀리초(중앙값)",
    "money": "비용",
    "{metric}, mean over the queries of a kind": "{metric}, 유형별 질의 평균",
    "seen: {value}": "관측값: {value}",
    "middle 95 %: {low} to {high}": "가운데 95 %: {low} ~ {high}",
    "limit": "한계",
}
