import type { EvidenceTexts } from '../evidence.ts'

export const evidence: EvidenceTexts = {
  heading: '과거 검증',
  none: '이 시장의 과거 데이터로 아직 검증되지 않았습니다',
  group: { buy: '매수 의견', hold: '관망 의견', sell: '매도 의견' },
  market: { all: '전체 시장', cn: '중국 본토', hk: '홍콩', us: '미국', jp: '일본', kr: '한국', tw: '대만' },
  regime: {
    all: '국면 구분 없음',
    bull: '상승하는 250일선 위',
    bear: '하락하는 250일선 아래',
    sideways: '250일선 방향 불분명',
    unknown: '250일선 없음',
  },
  cases:
    '{market}({regime})의 과거 {group} {count}건(독립 표본 {effective}건 상당): {sessions}거래일 후 비용 차감 평균 {mean}%, 무작위 매수는 {random}%',
  edge: '우위가 확인됨: 무작위 날짜보다 {excess}%p 우수(95% 구간: {low}~{high})',
  noEdge: '우위가 확인되지 않음: 무작위 날짜보다 {excess}%p 우수(95% 구간: {low}~{high})',
  tooFew: '표본이 너무 적어 판단할 수 없음(독립 표본 {least}건 미만)',
  noClaim: '관망 의견은 우위를 주장하지 않음',
  probability: '의견이 맞을 확률 {probability}%(임의의 날: {base}%; Brier 기술 점수 {skill})',
  join: '; ',
}
