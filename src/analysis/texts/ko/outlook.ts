import type { OutlookTexts } from '../outlook.ts'

export const outlook: OutlookTexts = {
  heading: {
    horizons: '기간별 추세',
    plan: '손익비',
    returns: '수익률 5 / 20 / 60 / 250일(%)',
    risk: '60일 연율 변동성 / 250일 최대 낙폭(%)',
    turnover: '20일 평균 거래대금',
  },
  horizon: {
    short: '단기(수일~수주)',
    medium: '중기(수주~수개월)',
    long: '장기(수개월~수년)',
    weekly: '주봉',
    monthly: '월봉',
  },
  direction: { up: '상승', down: '하락', sideways: '횡보', unknown: '데이터 부족' },
  holds: '점수와 의견은 단기(5~20거래일) 기준',
  plan: '{entry}에 매수하면 비용(양방향 {cost}%)을 뺀 손익비 {ratio}(이익 {reward}%, 손실 {risk}%), {most} 초과에서는 매수하지 않음',
  size: '한 번에 자금의 {budget}%까지만 잃으려면 비중 {size}% 이하',
  noPlan: '비용을 빼면 어느 매수 가격에서도 손익비가 {least}보다 낮아 매수 계획이 없음',
  noPlanOfSale: '매도 의견에는 매수 가격을 제시하지 않음',
  join: '; ',
  colon: ': ',
}
