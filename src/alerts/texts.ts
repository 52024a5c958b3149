// The texts of alerts. The existing page replaces texts that contain words such as "reasoning", "timeout" or "proxy" by
// its own, so these words must not be used here.

import type { ReportLanguage } from '../analysis/schemas.ts'
import type { AlertType } from './kinds.ts'
import type { Doubt } from './trust.ts'

export type AlertTexts = {
  kind: Record<AlertType, string>
  severity: Record<string, string>
  /** What fired, after the target's name. `up` is the requested direction. */
  reached: (price: string, line: string, up: boolean) => string
  changed: (percent: string, line: string) => string
  volume: (volume: string, times: string, mean: string) => string
  level: (level: string, line: string, price: string) => string
  levels: Record<string, string>
  crossed: (name: string, value: string, line: string, up: boolean, session: string) => string
  indicator: Record<'ma_price_cross' | 'rsi_threshold' | 'macd_cross' | 'kdj_cross' | 'cci_threshold', string>
  advice: (label: string) => string
  loss: (percent: string, limit: string, account: string) => string
  weight: (percent: string, limit: string) => string
  fall: (percent: string, limit: string) => string
  noPrice: (account: string) => string
  light: (status: string, score: string) => string
  lights: Record<string, string>
  drop: (points: string, session: string) => string
  marked: (checks: string) => string
  more: (count: number) => string
  title: (severity: string, name: string, count: number) => string
  doubt: Record<Doubt, string>
  /** A reason with the targets that it concerns. */
  doubtful: (reason: string, count: number, targets: string) => string
  missed: (since: string) => string
  status: (evaluated: number) => string
  never: string
  off: string
  expired: string
  late: (since: string) => string
  sampleOnly: string
  closed: string
  test: { holds: string; holdsNot: string; several: (triggered: number, of: number) => string; nothing: string }
  tooMany: (most: number) => string
}

export const ALERT_TEXTS: Record<ReportLanguage, AlertTexts> = {
  en: {
    kind: {
      price_cross: 'Price',
      price_change_percent: 'Change of the day',
      volume_spike: 'Volume',
      level_touch: 'Level of an advice',
      ma_price_cross: 'Moving average',
      rsi_threshold: 'RSI',
      macd_cross: 'MACD',
      kdj_cross: 'KDJ',
      cci_threshold: 'CCI',
      new_advice: 'New advice',
      portfolio_stop_loss: 'Losses',
      portfolio_concentration: 'Concentration',
      portfolio_drawdown: 'Drawdown',
      portfolio_price_stale: 'Missing prices',
      market_light_status: 'Market light',
      market_light_score_drop: 'Fall of the market light',
    },
    severity: { info: 'Info', warning: 'Warning', critical: 'Critical' },
    reached: (price, line, up) => `price ${price}, ${up ? 'at or above' : 'at or below'} ${line}`,
    changed: (percent, line) => `change of the day ${percent}, limit ${line}`,
    volume: (volume, times, mean) => `volume ${volume}, more than ${times} times the mean of 20 sessions (${mean})`,
    level: (level, line, price) => `touched ${level} ${line}, price ${price}`,
    levels: {
      entry: 'the entry',
      entry_low: 'the lower entry',
      stop_loss: 'the stop loss',
      target_price: 'the target price',
    },
    crossed: (name, value, line, up, session) =>
      `${name} crossed ${up ? 'upwards' : 'downwards'} on ${session}: ${value} against ${line}`,
    indicator: {
      ma_price_cross: 'the close and its average',
      rsi_threshold: 'RSI',
      macd_cross: 'MACD (DIF and DEA)',
      kdj_cross: 'KDJ (K and D)',
      cci_threshold: 'CCI',
    },
    advice: (label) => `new advice: ${label}`,
    loss: (percent, limit, account) => `a loss of ${percent} in ${account}, limit ${limit}`,
    weight: (percent, limit) => `${percent} of the holdings, limit ${limit}`,
    fall: (percent, limit) => `fell ${percent} from its high, limit ${limit}`,
    noPrice: (account) => `no current price in ${account}`,
    light: (status, score) => `the light is ${status} (${score})`,
    lights: { green: 'green', yellow: 'yellow', red: 'red' },
    drop: (points, session) => `the light fell by ${points} points on ${session}`,
    marked: (checks) => `a check of the figures warns: ${checks}`,
    more: (count) => `${count} more`,
    title: (severity, name, count) => `${severity}: ${name}${count > 1 ? ` (${count})` : ''}`,
    doubt: {
      no_quote: 'no source gave a quote',
      sample: 'only sample data',
      no_time: 'the source does not tell when the price was made',
      ahead: 'the price is dated in the future',
      other_day: 'the price is of another day',
      stale: 'the price is older than 20 minutes of trading',
      suspended: 'nothing was traded today',
      withheld: 'a check of the figures refuses them',
      no_volume: 'the source tells no volume',
      no_bars: 'no source gave the daily bars',
      no_bar: 'the last session has no bar',
      gap: 'a bar is missing before the last session',
      few_bars: 'too few bars for the indicator',
      no_levels: 'no active advice names the level',
      no_price: 'a holding has no price',
      no_rate: 'an exchange rate is missing',
      no_history: 'a price or a rate is missing on one of the days',
      no_light: 'the light of the last session is not made yet',
      no_light_before: 'the light of the session before is not known',
      no_targets: 'there is nothing to look at',
      not_looked_at: 'it waits for the next round',
    },
    doubtful: (reason, count, targets) => `${reason}: ${targets}${count > 3 ? ` … (${count})` : ''}`,
    missed: (since) => `nobody looked since ${since}: what happened in between may have been missed`,
    status: (evaluated) => `Looked at: ${evaluated}`,
    never: 'Not looked at yet.',
    off: 'Switched off.',
    expired: 'Expired.',
    late: (since) => `The monitor has not run since ${since}.`,
    sampleOnly: 'The monitor is off: the only source is sample data.',
    closed: 'The market is closed.',
    test: {
      holds: 'The condition holds now',
      holdsNot: 'The condition does not hold now',
      several: (triggered, of) => `It holds for ${triggered} of ${of}`,
      nothing: 'There is nothing to look at',
    },
    tooMany: (most) => `You have ${most} rules already: delete one first`,
  },
  zh: {
    kind: {
      price_cross: '价格',
      price_change_percent: '当日涨跌幅',
      volume_spike: '成交量',
      level_touch: '建议价位',
      ma_price_cross: '均线',
      rsi_threshold: 'RSI',
      macd_cross: 'MACD',
      kdj_cross: 'KDJ',
      cci_threshold: 'CCI',
      new_advice: '新建议',
      portfolio_stop_loss: '亏损',
      portfolio_concentration: '集中度',
      portfolio_drawdown: '回撤',
      portfolio_price_stale: '缺少价格',
      market_light_status: '市场红绿灯',
      market_light_score_drop: '红绿灯下跌',
    },
    severity: { info: '提示', warning: '警告', critical: '严重' },
    reached: (price, line, up) => `价格 ${price}，已${up ? '达到或高于' : '达到或低于'} ${line}`,
    changed: (percent, line) => `当日涨跌幅 ${percent}，阈值 ${line}`,
    volume: (volume, times, mean) => `成交量 ${volume}，超过 20 日均量（${mean}）的 ${times} 倍`,
    level: (level, line, price) => `触及${level} ${line}，价格 ${price}`,
    levels: { entry: '买入价', entry_low: '买入下限', stop_loss: '止损价', target_price: '目标价' },
    crossed: (name, value, line, up, session) => `${session} ${name}${up ? '上穿' : '下穿'}：${value} 对 ${line}`,
    indicator: {
      ma_price_cross: '收盘价与均线',
      rsi_threshold: 'RSI',
      macd_cross: 'MACD（DIF 与 DEA）',
      kdj_cross: 'KDJ（K 与 D）',
      cci_threshold: 'CCI',
    },
    advice: (label) => `新建议：${label}`,
    loss: (percent, limit, account) => `${account} 亏损 ${percent}，阈值 ${limit}`,
    weight: (percent, limit) => `占持仓 ${percent}，阈值 ${limit}`,
    fall: (percent, limit) => `自高点回撤 ${percent}，阈值 ${limit}`,
    noPrice: (account) => `${account} 中没有最新价格`,
    light: (status, score) => `红绿灯为${status}（${score}）`,
    lights: { green: '绿灯', yellow: '黄灯', red: '红灯' },
    drop: (points, session) => `${session} 红绿灯下跌 ${points} 分`,
    marked: (checks) => `数据检查有提示：${checks}`,
    more: (count) => `另有 ${count} 项`,
    title: (severity, name, count) => `${severity}：${name}${count > 1 ? `（${count}）` : ''}`,
    doubt: {
      no_quote: '没有数据源给出报价',
      sample: '只有样例数据',
      no_time: '数据源没有说明价格的时间',
      ahead: '价格的时间在未来',
      other_day: '价格不是当日的',
      stale: '价格已超过 20 分钟交易时间未更新',
      suspended: '当日没有成交',
      withheld: '数据检查未通过',
      no_volume: '数据源没有给出成交量',
      no_bars: '没有数据源给出日线',
      no_bar: '最近一个交易日没有日线',
      gap: '最近交易日之前缺少一根日线',
      few_bars: '日线太少，无法计算指标',
      no_levels: '没有有效建议给出该价位',
      no_price: '持仓缺少价格',
      no_rate: '缺少汇率',
      no_history: '某一天缺少价格或汇率',
      no_light: '最近交易日的红绿灯尚未生成',
      no_light_before: '前一交易日的红绿灯未知',
      no_targets: '没有可查看的对象',
      not_looked_at: '等待下一轮',
    },
    doubtful: (reason, count, targets) => `${reason}：${targets}${count > 3 ? ` …（共 ${count}）` : ''}`,
    missed: (since) => `自 ${since} 起没有检查：其间发生的可能被错过`,
    status: (evaluated) => `已查看 ${evaluated} 项`,
    never: '尚未查看。',
    off: '已停用。',
    expired: '已过期。',
    late: (since) => `监控自 ${since} 起没有运行。`,
    sampleOnly: '监控已关闭：唯一的数据源是样例数据。',
    closed: '市场已休市。',
    test: {
      holds: '条件当前成立',
      holdsNot: '条件当前不成立',
      several: (triggered, of) => `${of} 项中有 ${triggered} 项成立`,
      nothing: '没有可查看的对象',
    },
    tooMany: (most) => `提醒规则已达上限 ${most} 条：请先删除`,
  },
  ko: {
    kind: {
      price_cross: '가격',
      price_change_percent: '당일 등락률',
      volume_spike: '거래량',
      level_touch: '조언 가격대',
      ma_price_cross: '이동평균',
      rsi_threshold: 'RSI',
      macd_cross: 'MACD',
      kdj_cross: 'KDJ',
      cci_threshold: 'CCI',
      new_advice: '새 조언',
      portfolio_stop_loss: '손실',
      portfolio_concentration: '집중도',
      portfolio_drawdown: '낙폭',
      portfolio_price_stale: '가격 없음',
      market_light_status: '시장 신호등',
      market_light_score_drop: '신호등 하락',
    },
    severity: { info: '정보', warning: '경고', critical: '심각' },
    reached: (price, line, up) => `가격 ${price}, ${line} ${up ? '이상' : '이하'}`,
    changed: (percent, line) => `당일 등락률 ${percent}, 한도 ${line}`,
    volume: (volume, times, mean) => `거래량 ${volume}, 20일 평균(${mean})의 ${times}배 초과`,
    level: (level, line, price) => `${level} ${line} 도달, 가격 ${price}`,
    levels: { entry: '매수가', entry_low: '매수 하단', stop_loss: '손절가', target_price: '목표가' },
    crossed: (name, value, line, up, session) => `${session} ${name} ${up ? '상향' : '하향'} 돌파: ${value} / ${line}`,
    indicator: {
      ma_price_cross: '종가와 이동평균',
      rsi_threshold: 'RSI',
      macd_cross: 'MACD (DIF, DEA)',
      kdj_cross: 'KDJ (K, D)',
      cci_threshold: 'CCI',
    },
    advice: (label) => `새 조언: ${label}`,
    loss: (percent, limit, account) => `${account} 손실 ${percent}, 한도 ${limit}`,
    weight: (percent, limit) => `보유 비중 ${percent}, 한도 ${limit}`,
    fall: (percent, limit) => `고점 대비 낙폭 ${percent}, 한도 ${limit}`,
    noPrice: (account) => `${account}에 최신 가격 없음`,
    light: (status, score) => `신호등 ${status} (${score})`,
    lights: { green: '녹색', yellow: '황색', red: '적색' },
    drop: (points, session) => `${session} 신호등 ${points}점 하락`,
    marked: (checks) => `데이터 점검 경고: ${checks}`,
    more: (count) => `그 밖에 ${count}건`,
    title: (severity, name, count) => `${severity}: ${name}${count > 1 ? ` (${count})` : ''}`,
    doubt: {
      no_quote: '시세를 준 출처가 없음',
      sample: '샘플 데이터뿐임',
      no_time: '출처가 가격 시각을 알리지 않음',
      ahead: '가격 시각이 미래임',
      other_day: '다른 날의 가격임',
      stale: '가격이 거래 시간 20분 넘게 갱신되지 않음',
      suspended: '오늘 거래가 없음',
      withheld: '데이터 점검을 통과하지 못함',
      no_volume: '출처가 거래량을 알리지 않음',
      no_bars: '일봉을 준 출처가 없음',
      no_bar: '마지막 거래일의 일봉이 없음',
      gap: '마지막 거래일 앞의 일봉이 없음',
      few_bars: '지표에 필요한 일봉이 부족함',
      no_levels: '해당 가격대를 말하는 유효한 조언이 없음',
      no_price: '보유 종목의 가격이 없음',
      no_rate: '환율이 없음',
      no_history: '어느 날의 가격이나 환율이 없음',
      no_light: '마지막 거래일의 신호등이 아직 없음',
      no_light_before: '앞 거래일의 신호등을 알 수 없음',
      no_targets: '볼 대상이 없음',
      not_looked_at: '다음 차례를 기다림',
    },
    doubtful: (reason, count, targets) => `${reason}: ${targets}${count > 3 ? ` … (${count})` : ''}`,
    missed: (since) => `${since} 이후 확인하지 않음: 그 사이의 일은 놓쳤을 수 있음`,
    status: (evaluated) => `확인함: ${evaluated}`,
    never: '아직 확인하지 않음.',
    off: '꺼짐.',
    expired: '만료됨.',
    late: (since) => `${since} 이후 감시가 실행되지 않음.`,
    sampleOnly: '감시 꺼짐: 출처가 샘플 데이터뿐임.',
    closed: '시장이 닫혀 있음.',
    test: {
      holds: '지금 조건이 성립함',
      holdsNot: '지금 조건이 성립하지 않음',
      several: (triggered, of) => `${of}건 중 ${triggered}건 성립`,
      nothing: '볼 대상이 없음',
    },
    tooMany: (most) => `규칙이 이미 ${most}개 있습니다. 먼저 하나를 삭제하세요`,
  },
}
