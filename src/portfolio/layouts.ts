// The formats of brokers' files: the names of the columns, the order of a date, and the words for buying and selling. A
// column is found by its name, at any position.

/** The fields that a trade requires, that a dividend requires, and optional ones. */
export const NEEDED = ['date', 'symbol', 'side', 'quantity', 'price'] as const
export const NEEDED_OF_DIVIDEND = ['date', 'symbol', 'side', 'amount'] as const
const OPTIONAL = ['time', 'currency', 'uid', 'amount'] as const
/** Several columns of these are summed. */
const CHARGES = ['fee', 'tax'] as const
export type Field = (typeof NEEDED)[number] | (typeof OPTIONAL)[number] | (typeof CHARGES)[number]
export const FIELDS: readonly Field[] = [...NEEDED, ...OPTIONAL, ...CHARGES]

export type DateOrder = 'ymd' | 'mdy' | 'dmy'

export type Layout = {
  broker: string
  aliases: readonly string[]
  names: { zh: string; en: string; ko: string }
  /** The names of the columns, the most likely first. */
  columns: Readonly<Record<Field, readonly string[]>>
  buy: readonly string[]
  sell: readonly string[]
  /** Words for a cash dividend, for a later tax on one, and for one that is reinvested in shares in the same row. */
  dividend: readonly string[]
  dividendTax: readonly string[]
  reinvested: readonly string[]
  /** Words for deposits and withdrawals of the owner; `moved` is either, depending on its sign. */
  paidIn: readonly string[]
  paidOut: readonly string[]
  moved: readonly string[]
  /** The currency of such payments if no column contains it; null: they are skipped then. */
  ownCurrency: string | null
  dateOrder: DateOrder
  decimal: '.' | ','
  /** A sale has a negative quantity, and charges have a negative amount. */
  isSigned: boolean
  /** Only rows with one of these values in that column are trades of shares. */
  only: { column: string; values: readonly string[] } | null
  /** The market of a bare number by currency: `700` in Hong Kong dollars is `700.HK`. */
  places: Readonly<Record<string, string>>
}

const CHINESE: Layout['columns'] = {
  date: ['成交日期', '交易日期', '发生日期', '日期', '成交时间'],
  time: ['成交时间', '发生时间', '时间'],
  symbol: ['证券代码', '股票代码', '代码'],
  side: ['买卖标志', '买卖方向', '交易方向', '委托方向', '业务名称', '摘要', '操作'],
  quantity: ['成交数量', '成交股数', '数量'],
  price: ['成交均价', '成交价格', '成交价', '均价', '价格'],
  uid: ['成交编号', '成交序号', '流水号'],
  currency: ['币种', '货币', '货币单位'],
  /** The amount booked to the account, after charges. */
  amount: ['发生金额', '清算金额', '收付金额', '资金发生数', '发生额'],
  fee: ['手续费', '佣金', '交易费', '规费', '过户费', '其他费', '其他费用', '其他杂费'],
  tax: ['印花税', '税费', '其他税费'],
}

const CHINESE_BUY = '买入 证券买入 买 担保品买入 融资买入 港股通买入 港股通股票买入 基金买入 b'.split(' ')
const CHINESE_SELL = '卖出 证券卖出 卖 担保品卖出 卖券还款 港股通卖出 港股通股票卖出 基金卖出 s'.split(' ')

const CHINESE_DIVIDEND =
  '红利入账 股息入账 红利 股息 红利股息 股息红利 分红 现金分红 派息 红利发放 股息入帐 红利入帐 港股通股息 现金红利'.split(
    ' ',
  )
const CHINESE_DIVIDEND_TAX =
  '股息红利税补缴 股息红利差异扣税 红利差异税扣税 股息差异扣税 红利税补缴 股息红利税 红利税 股息红利差异税扣款'.split(
    ' ',
  )
const CHINESE_REINVESTED = '红利再投 红利再投资 红利转投'.split(' ')

const MAINLAND = {
  columns: CHINESE,
  buy: CHINESE_BUY,
  sell: CHINESE_SELL,
  dividend: CHINESE_DIVIDEND,
  dividendTax: CHINESE_DIVIDEND_TAX,
  reinvested: CHINESE_REINVESTED,
  paidIn: ['银行转证券', '银行转存', '银证转入', '银行转入', '资金存入'],
  paidOut: ['证券转银行', '银行转取', '银证转出', '银行转出', '资金取出'],
  moved: ['银证转账'],
  ownCurrency: 'CNY',
  dateOrder: 'ymd',
  decimal: '.',
  isSigned: false,
  only: null,
  places: {},
} as const

const NONE: Layout['columns'] = {
  ...{ date: [], time: [], symbol: [], side: [], quantity: [], price: [] },
  ...{ uid: [], currency: [], amount: [], fee: [], tax: [] },
}

const ENGLISH: Layout['columns'] = {
  date: ['date', 'trade date', 'transaction date'],
  time: ['time', 'trade time'],
  symbol: ['symbol', 'ticker', 'code', 'stock code'],
  side: ['side', 'action', 'type', 'buy/sell', 'direction'],
  quantity: ['quantity', 'qty', 'shares'],
  price: ['price', 'trade price', 'price per share'],
  uid: ['trade id', 'trade no'],
  currency: ['currency'],
  amount: ['net amount', 'net', 'amount', 'total'],
  fee: ['fee', 'fees', 'commission'],
  tax: ['tax', 'taxes', 'stamp duty'],
}

function both(): Layout['columns'] {
  const columns: Record<Field, readonly string[]> = { ...NONE }
  for (const field of FIELDS) columns[field] = [...CHINESE[field], ...ENGLISH[field]]
  return columns
}

export const LAYOUTS: readonly Layout[] = [
  {
    ...MAINLAND,
    broker: 'huatai',
    aliases: ['华泰', '华泰证券'],
    names: { zh: '华泰证券', en: 'Huatai Securities', ko: '화타이증권' },
  },
  {
    ...MAINLAND,
    broker: 'citic',
    aliases: ['zhongxin', '中信', '中信证券'],
    names: { zh: '中信证券', en: 'CITIC Securities', ko: '중신증권' },
  },
  {
    ...MAINLAND,
    broker: 'cmb',
    aliases: ['cmbchina', 'zhaoshang', '招商', '招商证券'],
    names: { zh: '招商证券', en: 'China Merchants Securities', ko: '초상증권' },
  },
  {
    ...MAINLAND,
    broker: 'eastmoney',
    aliases: ['dongcai', '东财', '东方财富'],
    names: { zh: '东方财富证券', en: 'East Money Securities', ko: '동방재부증권' },
  },
  {
    ...MAINLAND,
    broker: 'schwab',
    aliases: ['charles schwab'],
    names: { zh: '嘉信理财', en: 'Charles Schwab', ko: '찰스 슈왑' },
    columns: {
      ...NONE,
      ...{ date: ['date'], symbol: ['symbol'], side: ['action'], quantity: ['quantity'], price: ['price'] },
      ...{ fee: ['fees & comm'], amount: ['amount'] },
    },
    buy: ['buy', 'reinvest shares'],
    sell: ['sell'],
    // A reinvestment has two rows: the dividend, and the shares that it bought.
    dividend: [
      ...['cash dividend', 'qualified dividend', 'non-qualified div', 'special dividend', 'special qual div'],
      ...['reinvest dividend', 'qual div reinvest', 'pr yr cash div', 'pr yr div reinvest', 'pr yr special div'],
    ],
    dividendTax: ['nra tax adj', 'nra withholding', 'foreign tax paid', 'pr yr nra tax'],
    reinvested: [],
    ...{ paidIn: [], paidOut: [], ownCurrency: 'USD' },
    moved: ['moneylink transfer', 'wire funds', 'wire sent', 'wire received', 'wire funds received', 'funds received'],
    dateOrder: 'mdy',
  },
  {
    ...MAINLAND,
    broker: 'ibkr',
    aliases: ['interactive brokers', '盈透', '盈透证券'],
    names: { zh: '盈透证券', en: 'Interactive Brokers (Flex query)', ko: '인터랙티브 브로커스' },
    columns: {
      ...NONE,
      ...{
        date: ['tradedate', 'datetime', 'date/time', 'settledate'],
        time: ['datetime', 'tradetime'],
        symbol: ['symbol'],
      },
      ...{ side: ['buy/sell', 'type'], quantity: ['quantity'], price: ['tradeprice'], currency: ['currencyprimary'] },
      ...{ fee: ['ibcommission'], tax: ['taxes'], amount: ['amount'], uid: ['tradeid', 'transactionid'] },
    },
    buy: ['buy'],
    sell: ['sell'],
    // The words of its cash transactions query, which is another file.
    dividend: ['dividends', 'payment in lieu of dividends'],
    dividendTax: ['withholding tax'],
    ...{
      reinvested: [],
      paidIn: [],
      paidOut: [],
      moved: ['deposits/withdrawals', 'deposits & withdrawals'],
      ownCurrency: null,
    },
    isSigned: true,
    only: { column: 'assetclass', values: ['stk'] },
    places: { HKD: '.HK', JPY: '.T', KRW: '.KS', TWD: '.TW' },
  },
  {
    ...MAINLAND,
    broker: 'generic',
    aliases: ['custom', 'other', '通用'],
    names: { zh: '其他（自选列）', en: 'Any other (choose the columns)', ko: '기타(열 선택)' },
    columns: both(),
    buy: [...CHINESE_BUY, 'buy', 'bot', 'bought', 'purchase', '매수'],
    sell: [...CHINESE_SELL, 'sell', 'sld', 'sold', 'sale', '매도'],
    dividend: [...CHINESE_DIVIDEND, 'dividend', 'dividends', 'cash dividend', 'div', '배당', '배당금'],
    dividendTax: [...CHINESE_DIVIDEND_TAX, 'dividend tax', 'withholding tax', '배당세'],
    reinvested: [...CHINESE_REINVESTED, 'dividend reinvestment', 'reinvested dividend', 'reinvestment', 'drip'],
    paidIn: [...MAINLAND.paidIn, 'deposit', 'cash in', '입금'],
    paidOut: [...MAINLAND.paidOut, 'withdrawal', 'cash out', '출금'],
    ownCurrency: null,
  },
]

export function layoutOf(broker: string): Layout | null {
  const wanted = folded(broker)
  return LAYOUTS.find((one) => one.broker === wanted || one.aliases.includes(wanted)) ?? null
}

/** The user's choices, which replace those of the layout. */
export type Choice = {
  columns?: Partial<Record<Field, readonly string[]>>
  buy?: readonly string[]
  sell?: readonly string[]
  dividend?: readonly string[]
  dateOrder?: DateOrder
  decimal?: '.' | ','
}

export function chosenLayout(layout: Layout, choice: Choice): Layout {
  const { columns = {}, buy, sell, dividend, dateOrder, decimal } = choice
  return {
    ...layout,
    columns: { ...layout.columns, ...columns },
    buy: buy?.map(folded) ?? layout.buy,
    sell: sell?.map(folded) ?? layout.sell,
    dividend: dividend?.map(folded) ?? layout.dividend,
    dateOrder: dateOrder ?? layout.dateOrder,
    decimal: decimal ?? layout.decimal,
  }
}

/** Equal for all widths and cases of the letters; units in brackets are not part of a name. */
export const folded = (text: string): string =>
  text
    .normalize('NFKC')
    .replace(/\([^)]*\)/g, '')
    .replace(/\s+/g, ' ')
    .trim()
    .toLowerCase()

/** The column of each field; `-1` and an empty list for none. */
export type ColumnIndexes = Record<Exclude<Field, 'fee' | 'tax'> | 'only', number> & { fee: number[]; tax: number[] }
export type Header = { ok: true; row: number; names: string[]; places: ColumnIndexes }
/** Either columns are missing, or a required one occurs twice, so that it is unclear which one counts. */
export type NoHeader = { ok: false; missing: Field[]; twice: string | null; names: string[] }

const FIRST_ROWS = 20

/** The first row that names all required columns of a trade, or of a file of payments. Some programs put a title above it. */
export function headerOf(
  rows: readonly { row: number; cells: readonly string[] }[],
  layout: Layout,
): Header | NoHeader {
  let nearest: NoHeader = { ok: false, missing: [...NEEDED], twice: null, names: [...(rows[0]?.cells ?? [])] }
  for (const { row, cells } of rows.slice(0, FIRST_ROWS)) {
    const names = cells.map(folded)
    const places = placesIn(names, layout)
    const isOfPayments = places.amount >= 0 && places.quantity < 0 && places.price < 0
    const missing = (isOfPayments ? NEEDED_OF_DIVIDEND : NEEDED).filter((field) => places[field] < 0)
    const used = Object.values(places).flat()
    const twice = used.find((place) => place >= 0 && names.lastIndexOf(names[place] ?? '') !== place)
    if (missing.length === 0 && twice === undefined) return { ok: true, row, names: [...cells], places }
    if (missing.length < nearest.missing.length) {
      const repeated = missing.length > 0 || twice === undefined ? null : (cells[twice] ?? null)
      nearest = { ok: false, missing, twice: repeated, names: [...cells] }
    }
  }
  return nearest
}

function placesIn(names: readonly string[], { columns, only }: Layout): ColumnIndexes {
  const all = (field: Field) => {
    const found = columns[field].map((name) => names.indexOf(folded(name))).filter((place) => place >= 0)
    return [...new Set(found)]
  }
  const first = (field: Field) => all(field)[0] ?? -1
  return {
    ...{ date: first('date'), time: first('time'), symbol: first('symbol'), side: first('side') },
    ...{ quantity: first('quantity'), price: first('price'), currency: first('currency') },
    ...{ uid: first('uid'), amount: first('amount') },
    ...{ fee: all('fee'), tax: all('tax'), only: only === null ? -1 : names.indexOf(only.column) },
  }
}
