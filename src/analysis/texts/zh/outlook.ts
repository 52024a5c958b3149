import type { OutlookTexts } from '../outlook.ts'

export const outlook: OutlookTexts = {
  heading: {
    horizons: '各周期趋势',
    plan: '盈亏比',
    returns: '涨跌幅 5 / 20 / 60 / 250 日（%）',
    risk: '60 日年化波动率 / 250 日最大回撤（%）',
    turnover: '20 日平均成交额',
  },
  horizon: {
    short: '短期（数日至数周）',
    medium: '中期（数周至数月）',
    long: '长期（数月至数年）',
    weekly: '周线',
    monthly: '月线',
  },
  direction: { up: '向上', down: '向下', sideways: '横盘', unknown: '数据不足' },
  holds: '评分与建议针对短期（5 至 20 个交易日）',
  plan: '以 {entry} 买入，扣除成本（双边 {cost}%）后盈亏比 {ratio}（可得 {reward}%，可失 {risk}%），高于 {most} 不买',
  size: '若单笔最多亏损资金的 {budget}%，仓位不超过 {size}%',
  noPlan: '任何买点扣除成本后的盈亏比都低于 {least}，没有买入计划',
  noPlanOfSale: '卖出建议不附买点',
  join: '；',
  colon: '：',
}
