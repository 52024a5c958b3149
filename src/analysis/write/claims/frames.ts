// Whether the context of a clause is understood: a correct figure is still a wrong claim when it is about somebody
// else, another day or currency, negated, a wish, or a change of something without earlier data. A clause with an
// unknown subject, time or verb is not kept without a mark.

import { directionOf } from './judge-figure.ts'
import type { KnownFacts } from './known.ts'
import { mentionsIn } from './name-table.ts'
import { isNegated } from './states.ts'

/** Placeholders for a fact, a figure and a name of the listing in the clause. */
const FACT = '◇'
const FIGURE = '◆'
const NAME = '○'

/** Parties other than the listing, anywhere in the clause. */
const THIRD_PARTY = new RegExp(
  [
    String.raw`\b(?:peers?|rivals?|competitors?|sectors?|industry|industries|(?<!strength )index(?:es)?|indices|nasdaq|dow|s&p|nikkei|kospi|oil|crude|gold|bitcoin|bonds?|futures|options|insiders?|funds?|brokers?|brokerages?|analysts?|executives?|chief|chair(?:man|woman)?|directors?|founders?|management|banks?|regulators?|government|ministry|shareholders?|holders?|institution(?:s|al)|suppliers?|customers?|subsidiar(?:y|ies)|parent|affiliates?|ETFs?|ADRs?|short sellers?|retail investors|foreign(?:ers)?|northbound|southbound|placement|offering|block trades?|warrants?|orders|backlog|employees|dollar index)\b`,
    '同行|同业(?!收购)|竞争对手|对手|行业|板块|大盘|(?<!强弱)指数|沪指|深成指|恒指|纳指|基金|社保|机构|股东|高管|董事|监事|总裁|总经理|实控人|创始人|员工|券商|投行|分析师|评级机构|央行|监管|政府|外资|北向|南向|沪股通|深股通|主力|游资|散户|融资|融券|大宗|定增|增发|配股|可转债|期权|期货|债券|原油|黄金|子公司|母公司|供应商|客户|订单|合同|高盛|摩根|中金|户数|其他公司|别家|龙头股',
    '(?<![가-힣])(?:경쟁사|경쟁업체|동종|업종|섹터|산업|(?<!강도)지수(?!이동|평균)|코스피|코스닥|나스닥|헤지펀드|펀드|연기금|기관|외국인|대주주|주주|임원|경영진|회장|대표이사|사장|내부자|증권사|애널리스트|투자은행|골드만|모건|은행|당국|정부|자회사|모회사|협력사|고객사|수주|계약|유상증자|무상증자|전환사채|공모|블록딜|신용잔고|공매도|옵션|선물(?!이|세)|채권|원유|유가|금값)',
  ].join('|'),
  'i',
)

/** Times that are not in the data: the data has its session, the one before, and ranges of sessions. */
const OTHER_TIME = new RegExp(
  [
    String.raw`\b(?:tomorrow|overnight|after[- ]hours|pre-?market|extended trading|(?:this|last|next|yesterday|in the|late in the|early) (?:week|month|quarter|year|morning|afternoon|evening)(?!['’]s)|week before last|by (?:mon|tues|wednes|thurs|fri)day|next|will|won't|shall|going to|soon|(?:days?|weeks?|months?|years?|quarters?|sessions?) (?:ago|from now|later|hence)|year[- ]to[- ]date|ytd|before the split|(?!52)\d+[- ](?:week|month|year)s?)\b`,
    '明[天日年]|后天|前天|前年|去年|上上?周|上上?个?月|下周|下个?月|年初|年内(?![高低]点)|盘前|盘后|夜盘|午后|早盘(?![开以报在于])|[一二两三四五六七八九十几]+(?:周|个月|年)(?:以?前|之前|后|内|之内)|未来|将(?!近|要?看|其)|即将|拆股前',
    '내일|모레|그저께|지난주|지지난주|지난달|작년|내년|다음 ?(?:주|달|거래일)|시간외|장전|오전|오후|앞으로|향후|(?:\\d+|[일이삼사오육칠팔구십한두세네]+)\\s?(?:년|주|개월|달) ?(?:전|뒤|후)|것이다|것입니다|할 전망|될 전망|전망이다',
  ].join('|'),
  'i',
)

/** Promises, statements and actions of others, orders, and records beyond the bars. */
const OTHER_PREDICATE = new RegExp(
  [
    String.raw`\b(?:guarantee\w*|ensures?|assures?|promises?|certain to|reportedly|allegedly|rumou?r\w*|must|expects?|expected to|forecasts?|predict\w*|said|says (?:the|that|he|she)|agrees?|believes?|(?<!\bif |\bonce |\bbe )(?:bought|sold)|raised from|cut from|upgrad\w*|downgrad\w*|all-time|(?:of|among) all (?:stocks|shares|companies|names)|(?:best|highest|lowest|worst) ever\b|record (?:high|low)|has (?:doubled|tripled|halved) since|since last (?:week|month|quarter|year)|halted|(?:on )?each (?:one )?of the (?:last|past)|every (?:single )?day|records?(?! date))\b`,
    '保证|据[传说]|传闻|听说|以◆\\S{0,4}(?:◇|买入|卖出|认购|入股)|必(?:将|然)|稳赚|预计|预期|表示|称(?![为之])|认为|增持|减持|持股|质押|上调|下调|调[高低]至|全市场|全球|所有股票|历史|有史以来|天量|[较比]上(?:周|月|季)|第一(?![条道个])|首位|之首|之最|排名|名列|(?:天天|每天|每日|日日)都?(?=◆|上|下|涨|跌)',
    '소문|◆\\S* (?:샀|팔았)|보장|예상|전망치|밝혔|말했|매수했|매도했|보유한|지분|상향 조정|하향 조정|사상|역대|전 종목|모든 종목|정해졌|업계|매일|날마다',
  ].join('|'),
  'i',
)

/**
 * Records that go back further than a report's bars, and comparisons with days that it does not have; also in a clause
 * without a figure.
 */
const BEYOND =
  /\b(?:(?:high|low|large|small|heavi|light|big|strong|weak|wid)est|best|worst|most|least) (?:of|in) (?:the|a|this|its|many|several) (?:year|month|quarter|week|decade|history)s?\b|(?:今年|年初)以?来最|(?:올해|연중|이달|이번 달) (?:들어 )?최|\ball-time\b|\bof all (?:stocks|shares|companies)\b|\bdoubled since\b|全市场|历史(?:新|最)|天量|[较比]上(?:周|月|季)|사상|역대/i

/** Currencies in which no supported listing is traded. */
const OTHER_MONEY = new RegExp(
  [
    String.raw`\d\s?(?:euros?\b|pounds?\b|sterling|(?:swiss )?francs?\b|rupees?\b|rou?bles?\b|pesos?\b|baht\b|ringgit|rupiah|kron[aer]+\b|rand\b|lira|zloty|(?:singapore|australian|canadian|new zealand|taiwan) dollars)`,
    String.raw`(?:£|€|\b(?:EUR|GBP|GBX|CHF|AUD|CAD|NZD|SGD|TWD|INR|RUB|THB|MYR|IDR|VND|PHP|BRL|MXN|ZAR|SEK|NOK|DKK|PLN|TRY|BTC|ETH))\s?\d`,
    String.raw`\d\s?(?:£|€|(?:EUR|GBP|GBX|CHF|AUD|CAD|NZD|SGD|TWD|INR|RUB|THB|MYR|IDR|VND|PHP|BRL|MXN|ZAR|SEK|NOK|DKK|PLN|TRY|BTC|ETH)\b)`,
    String.raw`\d\s?(?:欧元|英镑|(?:瑞士)?法郎|[澳加新]元|新加坡元|[新]?台币|卢[比布]|泰铢|越南盾|유로|파운드|(?:스위스 ?)?프랑|루[피블]|바트|(?:대만|싱가포르|호주|캐나다) ?달러)`,
  ].join('|'),
  'i',
)

/** Whether a figure of the text has a currency in which no supported listing is traded. */
export const isOtherMoney = (text: string): boolean => OTHER_MONEY.test(text)

/** For a listing in Taipei it is the listing's own currency. */
const TAIWANS = /新?台[币幣]元?|대만 ?달러|\bTWD\b|(?:new )?taiwan dollars?|NT\$/gi

/** A running session has no close. */
const TELLS_CLOSE = /收盘价|报收|收[于在报](?=\s?\d)|\bclosed? at\b|\bclosing price\b|\bthe close\b|종가|마감했|마감하/i
const CLOSE_BEFORE =
  /昨|前一|前收|上一|前日|\b(?:previous|prior|yesterday|last session|day before)\b|전일|전날|어제|전 거래일/i

const words = (text: string): ReadonlySet<string> => new Set(text.split(' '))

/** Allowed subjects of an English clause. */
const OWN_NOUNS = words(
  'it its stock stocks share shares price prices paper company business counter name listing instrument security report plan advice verdict rating signal signals confidence conviction trend setup ' +
    'chart picture tape momentum volume turnover trading trade traders investors buyers sellers valuation value reading readings figure figures data number numbers indicator indicators stochastics oscillator ' +
    'oscillators level levels average averages line lines band bands gap move gain gains loss losses decline drop fall rise rally rebound bounce pullback range swing day session sessions days ' +
    'week year month today yesterday close open high low upside downside distance premium discount risk reward ratio entry exit stop target targets support resistance score macd rsi kdj ' +
    'boll bollinger atr dif dea histogram crossover cross earnings revenue revenues sales profit profits income growth dividend dividends yield margin debt leverage liabilities equity book ' +
    'float cap capitalisation capitalization market results fundamentals one two three five six ten twenty sixty nothing something that everything part half quarter third liquidity ' +
    'annualised annualized volatility drawdown return performance strength alignment order stance note summary action outlook technicals bulls bears liquidity cushion room who which where there here limit balance bottom top peak trough math multiple multiples mark print tally count pace payout bar candle candles candlestick tick reversal ' +
    'breakout breakdown correction uptrend downtrend selloff selling buying pressure interest demand supply expansion contraction spread channel zone area territory floor ceiling hurdle barrier ' +
    'objective objectives threshold cost cash assets midline midpoint bias deviation divergence slope structure pattern case view call recommendation conclusion result system model method analysis ' +
    'backdrop sheet change percentage amount activity participation tone mood sentiment base basis size worth you we what whatever this these those',
)
/** Words that may precede a noun. */
const BEFORE_NOUNS = words(
  'the a an all both each every no only just even also now then so yet still and but nearest first second next last latest current recent previous prior daily intraday moving short medium long ' +
    'short-term medium-term long-term short-run technical fundamental own net overall total full trailing annual key main computed reported stated new fresh big small high low upper lower middle ' +
    'closing opening final annualised annualized maximum max simple relative average real actual heavy thin wide sharp strong weak solid deep bullish bearish positive negative good bad immediate initial primary secondary upward downward ' +
    'extra rich cheap elevated modest slight minor major implied possible potential remaining entire whole mere more less much another other same such early late single double first-half',
)
/** Words that open a clause whose subject comes later, or is that of the clause before. */
const OPENERS =
  /^(?:at|from|with|after|before|in|on|by|for|of|to|as|over|under|above|below|between|against|despite|since|within|during|around|near|about|than|per|up|down|off|even|if|when|while|because|note|meanwhile|again|thus|hence|well|no|yes|not|never|roughly|nearly|almost|some|more|less|most|far|via|until|through|versus|vs|out|back|what|how|priced|quite|technically|hardly|barely|having|being|right|short|twice)$/

const VERB =
  'is|are|was|were|has|have|had|does|did|closed|closes|ended|ends|finished|finishes|settled|rose|rises|fell|falls|gained|gains|lost|loses|added|adds|shed|climbed|slipped|traded|trades|stood|stands|opened|jumped|dropped|set|sees|saw|gives|gave|puts|put|cut|raised|got|made|makes|wants|values|pays|paid|took|takes|came|went|sits|moved|reached|hit|broke|advanced|declined|surged|tumbled|returned|owns?|trimmed|dumped|recommends?|reiterate[sd]?|rates?|estimates?|thinks?|calls?|targets?'

const VERBS = new RegExp(`^(?:${VERB})$`)

const isOrdinary = (word: string) =>
  OWN_NOUNS.has(word) ||
  BEFORE_NOUNS.has(word) ||
  OPENERS.test(word) ||
  VERBS.test(word) ||
  OWN_NOUNS.has(word.replace(/s$/, ''))

/**
 * Whether the head of an English clause, up to its verb or to a fact, names something other than the listing, its
 * figures and the report.
 */
function hasForeignSubject(head: string, isName: (word: string) => boolean): boolean {
  const told = head.split(/\s+/).filter((word) => word !== '')
  const noun = told.findIndex((word) => !BEFORE_NOUNS.has(bareWord(word)) && !/ly$/.test(word))
  const first = bareWord(told[noun] ?? '')
  if (
    !/^[a-z]/.test(first) ||
    isName(first) ||
    OWN_NOUNS.has(first) ||
    OWN_NOUNS.has(first.replace(/s$/, '')) ||
    OPENERS.test(first) ||
    VERBS.test(first)
  )
    return false
  if (/(?:ing|ed)$/.test(first)) return false
  const rest = told.slice(noun + 1, noun + 5)
  const at = rest.findIndex((word) => VERBS.test(bareWord(word)) || word.startsWith(FACT))
  return at >= 0 && !rest.slice(0, at).some((word) => OPENERS.test(bareWord(word)) || OWN_NOUNS.has(bareWord(word)))
}

const bareWord = (word: string) => word.toLowerCase().replace(/['’]s?$|[.,:]$/g, '')

const POSSESSIVE = /([A-Za-z][\w&.-]*)['’]s\s+(?:[a-z-]+\s+){0,2}◇/i

/** A capitalised name inside a clause that belongs neither to the listing nor to a measure. */
const CAPITALISED = /(?<=[a-z0-9,%◇◆]\s|^(?:In|At|For|On|By|From)\s)[A-Z][a-z]{2,}[\w&]*/g
const KNOWN_CAPITALS =
  /^(?:Bollinger|(?:Mon|Tues|Wednes|Thurs|Fri)day|January|February|March|April|May|June|July|August|September|October|November|December|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sep|Sept|Oct|Nov|Dec|Hong|Kong|Star|Street|Shares?|Stock)/

function isForeignEnglish(clause: string, known: KnownFacts): boolean {
  if (!/[a-z]{2}/i.test(clause) || /[\p{Script=Hangul}\p{Script=Han}]/u.test(clause)) return false
  const head = clause
    .replace(/^[\s"'(*-]+/, '')
    .replace(/^(?:and|but|while|whereas|so|yet|though|although|because|since|as)\s+/i, '')
  const names = words(known.names.join(' ').toLowerCase())
  const isName = (word: string) => names.has(bareWord(word))
  if (hasForeignSubject(head, isName)) return true
  const owner = POSSESSIVE.exec(clause)?.[1]
  if (owner !== undefined && !OWN_NOUNS.has(owner.toLowerCase()) && !isName(owner) && !KNOWN_CAPITALS.test(owner))
    return true
  return [...clause.matchAll(CAPITALISED)].some(
    ([word]) => !KNOWN_CAPITALS.test(word) && !isName(word) && !isOrdinary(bareWord(word)),
  )
}

/** Allowed words at the head of a Chinese clause before its fact, figure or verb. */
const ZH_HEAD =
  /本周|全日|参考|基准|关键|重要|主要|一期|本期|当期|报告期|筹码|持仓|个股|个|该股|本股|个股|股票|公司|其|它|自身|目前|当前|现在|现|今[天日]|昨[天日]|当[天日]|前一(?:个)?(?:交易)?[日天]|上一(?:个)?(?:交易)?[日天]|前(?:一)?日|此前|之前|最近|近期|近|最新|最后|一年|收盘|盘中|日内|全天|单日|报告|计划|系统|给出|给的|维持|的|为|在|是|从|以|而|但|且|并|也|还|仍|又|则|却|只|仅|均|都|已|就|把|若|按|据|与|和|及|或|较|比|距|离|到|至|于|虽然|因此|同时|此外|另外|其中|技术面?|基本面|估值|量能|动能|指标|均线|趋势|股价|价格|价|短期|中期|长期|短线|中线|上方|下方|上面|下面|第[一二]|两|三|个|方面|来看|看|上|下|对应|达到|约|超过|接近|高于|低于|位于|处于|处在|站上|站在|运行|跌破|失守|突破|创出?|涨|跌|升|降|增长?|减少?|上涨|下跌|回落|反弹|放大|缩|没有|尚未|未|不|并未|并非|非|说明|显示|意味着|读数|数值|差值|距离|区间|位置|空间|幅度|目标|建议|评分|综合/

const ZH_OPENING = new RegExp(`^(?:${ZH_HEAD.source})*`)

/** A head with such an ending is not a noun: a verb, a preposition, a particle. */
const ZH_VERB_END = /[在到了为是以把给报冲打看说算来上下得从按示过着出成有高低中内里比距至方面]$/

function isForeignChinese(clause: string): boolean {
  const head = /^[^\p{Script=Han}○◇◆]*(?:全日)?(\p{Script=Han}{2,7})(?:◇|收[于在报]|报收|上涨|下跌)/u.exec(clause)?.[1]
  if (head === undefined || ZH_VERB_END.test(head)) return false
  const own = head.replace(ZH_OPENING, '').replace(/的$/, '')
  return own.length >= 2 && own.search(ZH_HEAD) < 0
}

const KO_NOUNS =
  /^(?:주가|종가|시가|고가|저가|현재가|가격|값|이 ?종목|종목|회사|동사|주식|당사|리포트|보고서|계획|투자의견|의견|신뢰도|추세|거래량|거래|거래대금|지표|점수|실적|매출|이익|배당|밸류에이션|모멘텀|수급|변동성|유동성|구간|범위|수준|상단|하단|중심선|중심|단기선|이동평균선|평균선|이평선|저항|지지|목표|손절|매수가?|진입|오늘|어제|전일|전날|전 거래일|당일|현재|지금|최근|이날|장중|기간|상승|하락|상승률|하락률|등락률|수익률|폭|낙폭|차이|거리|간격|배수|비율|손익비|위치|자료|데이터|흐름|구조|밴드|볼린저|자체|자신|종목 자체|신호|하루|날|것|수|이|그|이것|그것|둘|셋|모두|여력|부담|위험|보상|기준|결과|순위|펀더멘털|재무|기술적|고점|저점|[KDJ]값?|가격대|이격|이격도|괴리율|(?:골든|데드)크로스|측면|관점|동향|매수세|매도세|반등|조정|거래일|수치|값|선|축|기울기|강도|탄력|여지|핵심|요지|결론|시점|구간대|상황|상태|비중|자본|자산|부채|순자산|성장|성장세|개선|감소|증가|증가율|마진|영업이익|순이익|52주|1년|연간|주당|가치|장부|시장)$/

function isForeignKorean(clause: string): boolean {
  const head = /^\s*((?:[가-힣A-Za-z&]+\s){0,2}?)([가-힣A-Za-z&]{2,}?)(은|는|이|가|의)\s(?:[◇◆]|[가-힣]+\s[◇◆])/u.exec(
    clause,
  )
  const noun = (head?.[2] ?? '').replace(/(?:에서|으로|에)$/, '')
  return /[가-힣]/.test(noun) && !KO_NOUNS.test(noun)
}

/** Results are compared with those of the year before. */
const YEAR_BEFORE = /\b(?:a )?years? (?:ago|earlier)\b|\blast year\b|去年|作?年前|작년|지난해|1년 전/gi

const WEEKDAY =
  /\b(?<en>Sun|Mon|Tues|Wednes|Thurs|Fri|Satur)day|(?:(?<!本)周|星期|礼拜)(?<zh>[日一二三四五六])(?!日?[线均])|(?<ko>[일월화수목금토])요일/gi

/** Whether it names a weekday that is neither the session's nor that of the business day before. */
function isOtherWeekday(clause: string, session: string): boolean {
  const today = new Date(session).getUTCDay()
  return [...clause.matchAll(WEEKDAY)].some(({ groups = {} }) => {
    const day = Math.max(
      ['sun', 'mon', 'tues', 'wednes', 'thurs', 'fri', 'satur'].indexOf((groups.en ?? '').toLowerCase()),
      '日一二三四五六'.indexOf(groups.zh ?? '?'),
      '일월화수목금토'.indexOf(groups.ko ?? '?'),
    )
    return day !== today && day !== (today === 1 ? 5 : today - 1)
  })
}

/** The clause with each fact replaced by one mark. */
function masked(clause: string): string {
  let text = clause
  for (const { at, end } of mentionsIn(clause).toReversed()) text = text.slice(0, at) + FACT + text.slice(end)
  return text.replaceAll('\u0001', NAME)
}

/** Facts with a single value in the data and no earlier one. */
const NO_BEFORE =
  /^(?:score|rsi\d+|k|d|j|dif|dea|histogram|ma\d+|boll\w+|atr|stop|target\d|support|resistance|idealBuy|secondaryBuy|pe|pb|roePct)$/
const FROM_TO = /\bfrom ◆.*\bto ◆|\bto ◆.*\bfrom ◆|[从由自]◆.*[到至]◆|◆\S*에서 ◆\S*로/

/** A negated verb of a figure's claim; "no bargain" or "not cheap" negates no figure. */
const DENIES =
  /\b(?:did|does|do|has|have|had)(?:n['’]t| not)\b|\bnever\b|\b(?:not|hardly) (?:true|◆)|\b(?:untrue|false|wrong|nobody|cannot)\b|(?:没有|并未|并没|未曾|不曾|未|没|并非|不是)\p{Script=Han}?(?:收|报|涨|跌|升|降|开|为|在|达|◇|◆)|지 (?:않았|못했)|(?:[은는이가]) 아니(?:다|었|며|고|지|$)|사실이 아/u

/** Claims that stay decidable when negated: that something is above, below, reached or broken, or missing. */
const COMPARES =
  /\b(?:above|below|over|under|beyond|than|reach\w*|hit|touch\w*|br[eo]k\w*|breach\w*|cross\w*|exceed\w*|near|far|lost|regain\w*|reclaim\w*|recover\w*)\b|[高低多少强弱大小]于|超过|达到|触及|跌破|突破|失守|站上|收复|收回|守住|击穿|不到|不足|[之以][上下]|넘|웃돌|밑돌|높|낮|많|적|크|작|도달|이르|무너|깨|회복|미치|미달|위|아래/i

/** The close of the day before with the price as its figure: "어제 412.35달러에 마감했다". */
function isYesterdays(clause: string, text: string, { values: { prevClose } }: KnownFacts): boolean {
  const facts = mentionsIn(clause).flatMap((mention) => mention.facts)
  if (!facts.includes('prevClose') || !facts.includes('price') || text.split(FIGURE).length !== 2) return false
  return COMPARES.test(clause) || directionOf(clause) !== 0
    ? false
    : !clause.replaceAll(',', '').includes(String(prevClose))
}

type ClauseContext = {
  /** The data have decided the clause's claims without a figure, including a negation. */
  readonly isDecided: boolean
  /** It is about results, which are compared with those of the year before. */
  readonly isGrowth: boolean
}

/** A difference of two facts as an amount of money: it is not the value of either. */
const DIFFERENCE =
  /\b(?:gap|distance|difference|spread) between\b.*◆(?!%)|◇[与和跟同]◇(?:之间)?的?(?:差距|价差|差额|距离)\S{0,3}◆|◇[와과] ?◇(?:의|\s사이의?)? ?(?:차이|격차|간격)\S* ◆/

/** Two averages that are claimed to cross; whether they did is decided elsewhere, or not at all. */
const CROSSED = /◇.*◇.*\b(?:crossed|crosses)\b|\b(?:crossed|crosses)\b.*◇/

/** Which part of the context is not understood; null when all of it is. */
export function strangeFrame(clause: string, known: KnownFacts, { isDecided, isGrowth }: ClauseContext): string | null {
  if (OTHER_MONEY.test(known.currency === 'TWD' ? clause.replace(TAIWANS, ' ') : clause)) return 'money'
  if (known.isPartial && TELLS_CLOSE.test(clause) && !CLOSE_BEFORE.test(clause)) return 'time'
  if (BEYOND.test(clause)) return 'record'
  const dated = masked(clause)
  const text = dated.replace(/[-+]?(?:HK\$|US\$|[$¥₩€])?\d[\d.,]*%?/g, FIGURE)
  if (THIRD_PARTY.test(text)) return 'party'
  if (isOtherWeekday(clause, known.dates.session)) return 'time'
  if (OTHER_TIME.test(isGrowth ? dated.replace(YEAR_BEFORE, '') : dated)) return 'time'
  if (OTHER_PREDICATE.test(text)) return 'predicate'
  if (isYesterdays(clause, text, known)) return 'time'
  if (DIFFERENCE.test(text)) return 'difference'
  if (!isDecided && CROSSED.test(text)) return 'cross'
  if (
    FROM_TO.test(text) &&
    mentionsIn(clause).some(({ facts }) => facts.length === 1 && NO_BEFORE.test(facts[0] ?? ''))
  )
    return 'change'
  if (!isDecided && text.includes(FIGURE) && DENIES.test(text) && !COMPARES.test(clause)) return 'denial'
  if (isForeignEnglish(text, known)) return 'english'
  if (isForeignChinese(text)) return 'chinese'
  return isForeignKorean(text) ? 'korean' : null
}

/** Whether it compares with data that no report has. */
export const tellsBeyond = (clause: string): boolean => BEYOND.test(clause)

const HAPPENED =
  /\b(?:has|have|had|was|were|got) (?:now |already |not |yet |also |just |been |never )*(?:hit|reached|touched|triggered|broken|breached|taken out|swept|achieved|cleared|lost|met|passed)\b|\b(?:gave way|in the bag|failed to hold)\b|破位|告破|洞穿|兑现|被扫|拿下|达成|(?:已经?|被|尚未|并?未|没有|还没有?)(?:被|经)*(?:击穿|触及|达到|到达|失守|跌破|突破|触发|打穿|实现)|이탈[했됐]|이탈되었|이탈하지|붕괴[했됐]|붕괴되었|붕괴되지|무너졌|무너지지|도달했|도달하지|이르렀|이르지|깨졌|깨지지|뚫렸|뚫리지|뚫었|뚫지|달성[했됐]|달성하지|내줬|내주지|닿았|닿지/i
const HOLDS = /\b(?:is|are) (?:still )?(?:holding|intact)\b|\bholds\b|守住|仍?有效|유지되고|지켜지고|지키고/i
const EARLIER = /\byesterday\b|\bearlier\b|\blast\b|昨|此前|어제|전날|앞서/i

/**
 * Claims about the fate of a level: a stop that was hit, a target that was reached, a support that broke. The data
 * decide them for their own session.
 */
export function fates(clause: string, { values, isSuspended }: KnownFacts): (boolean | null)[] {
  const [isHit, isHeld] = [HAPPENED.test(clause), HOLDS.test(clause)]
  if (isHit === isHeld || isSuspended) return []
  const { price, low, high } = values
  const levels = mentionsIn(clause).flatMap(({ facts }) => (facts.length === 1 ? facts : []))
  return levels.flatMap((fact): (boolean | null)[] => {
    const level = values[fact]
    if (level === null || price === null) return []
    const hit = /^target/.test(fact)
      ? (high ?? price) >= level
      : fact === 'stop'
        ? (low ?? price) <= level
        : fact === 'support'
          ? price < level
          : fact === 'resistance'
            ? price > level
            : null
    if (hit === null) return []
    const isNot = isNegated(clause) || isHeld
    return EARLIER.test(clause) && !isNot ? [hit ? null : false] : [hit !== isNot]
  })
}

const OF_YEARS =
  /\b(?:record|\w+[- ](?:year|month|week)) (?:high|low|close)\b|\bsince (?:19|20)\d\d\b|\b(?:best|worst|highest|lowest)\b.{0,30}\b(?:since|in (?!the session)\w+ (?:years|months|weeks))\b|年以来|[年月周]新[高低]|历史|天量|\ball-time\b|[较比]上(?:周|月|季)|[年월] 이후|(?:년|개월|주) 만에|사상|역대/i

/** Whether a claim about a market's day is about another day, a record of years, or negated: a review has no such data. */
export function isStrangeDay(text: string, session: string): boolean {
  const clauses = text.split(/[，。；;\n]|,(?!\d)/)
  const time = text.replace(/\bovernight\b|早盘|午后|盘后/gi, ' ')
  if (isOtherWeekday(text, session) || OTHER_TIME.test(time) || OF_YEARS.test(text)) return true
  return clauses.some(
    (clause) => /\d/.test(clause) && DENIES.test(clause.replace(/\d[\d.,]*%?/g, FIGURE)) && !COMPARES.test(clause),
  )
}
