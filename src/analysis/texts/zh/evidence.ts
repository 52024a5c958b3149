import type { EvidenceTexts } from '../evidence.ts'

export const evidence: EvidenceTexts = {
  heading: '历史证据',
  none: '本方法尚未在该市场的历史数据上回放',
  group: { buy: '买入建议', hold: '观望建议', sell: '卖出建议' },
  market: { all: '全部市场', cn: 'A股', hk: '港股', us: '美股', jp: '日股', kr: '韩股', tw: '台股' },
  regime: {
    all: '不分阶段',
    bull: '位于上行的250日均线之上',
    bear: '位于下行的250日均线之下',
    sideways: '250日均线方向不明',
    unknown: '尚无250日均线',
  },
  cases:
    '{market}（{regime}）过去 {count} 次{group}（相当于 {effective} 次独立样本），{sessions} 个交易日后扣除成本平均 {mean}%，随机买入为 {random}%',
  edge: '显示出优势：比随机日期好 {excess} 个百分点（95% 区间：{low} 至 {high}）',
  noEdge: '未显示优势：比随机日期好 {excess} 个百分点（95% 区间：{low} 至 {high}）',
  tooFew: '样本太少，不能说明问题（独立样本不足 {least} 次）',
  noClaim: '观望建议不主张优势',
  probability: '建议应验的概率为 {probability}%（任意日期：{base}%；Brier 技巧评分 {skill}）',
  join: '；',
}
