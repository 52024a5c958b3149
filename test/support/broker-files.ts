// Trade files in the layouts of brokers: their columns and words, with invented trades.

export type BrokerFile = {
  broker: string
  text: string
  /** Day, time, code, currency, side, quantity, price, fee, tax, number. */
  trades: string[]
  /** Day, code, currency, sum before charges, fee, tax. */
  dividends?: string[]
  /** Day, in or out, sum, currency. */
  cash?: string[]
  /** Row, reason, what is there. */
  skipped: string[]
}

export const BROKER_FILES: readonly BrokerFile[] = [
  {
    broker: 'huatai',
    text: [
      '成交日期\t证券代码\t证券名称\t操作\t成交数量\t成交均价\t成交金额\t股票余额\t发生金额\t手续费\t印花税\t其他杂费\t本次金额\t合同编号\t交易市场\t股东帐户',
      '="20251202"\t="600519"\t="贵州茅台"\t="证券买入"\t100\t1400.050\t140005.00\t100\t-140010.50\t5.50\t0.00\t0.00\t-140010.50\t="12"\t="上海A股"\t="A1"',
      '="20251203"\t="600519"\t="贵州茅台"\t="证券卖出"\t40\t1410.000\t56400.00\t60\t56360.00\t11.60\t28.20\t0.20\t56360.00\t="13"\t="上海A股"\t="A1"',
      '="20251210"\t="600519"\t="贵州茅台"\t="红利入账"\t0\t0.000\t0.00\t60\t150.00\t0.00\t0.00\t0.00\t150.00\t="0"\t="上海A股"\t="A1"',
      '="20251211"\t=""\t=""\t="银行转证券"\t0\t0.000\t0.00\t0\t5000.00\t0.00\t0.00\t0.00\t5000.00\t="0"\t=""\t=""',
    ].join('\r\n'),
    trades: ['2025-12-02  600519 CNY buy 100 1400.05 5.5 0 ', '2025-12-03  600519 CNY sell 40 1410 11.8 28.2 '],
    dividends: ['2025-12-10 600519 CNY 150 0 0'],
    cash: ['2025-12-11 in 5000 CNY'],
    skipped: [],
  },
  {
    broker: '中信',
    text: [
      '成交日期,成交时间,证券代码,证券名称,业务名称,成交数量,成交价格,成交金额,佣金,印花税,过户费,发生金额,成交编号,币种',
      '20251203,13:05:07,000001,平安银行,卖出,200,11.52,2304,5,1.15,0.02,2297.83,00000123,人民币',
      '20251202,09:30:01,000001,平安银行,买入,"1,000",11.50,11500,5,0,0.12,-11505.12,00000077,人民币',
      '20251202,09:30:01,000001,平安银行,买入,"1,000",11.50,11500,5,0,0.12,-11505.12,00000078,人民币',
      '20251205,00:00:00,000001,平安银行,股息入账,0,0,0,0,0,0,236.00,,人民币',
      '20251206,00:00:00,000001,平安银行,股息红利税补缴,0,0,0,0,0,0,-23.60,,人民币',
      '20251208,09:00:00,,,证券转银行,0,0,0,0,0,0,-2000.00,,人民币',
      '20251220,00:00:00,,,利息归本,0,0,0,0,0,0,1.23,,人民币',
    ].join('\n'),
    trades: [
      '2025-12-02 09:30:01 000001 CNY buy 1000 11.5 5.12 0 00000077',
      '2025-12-02 09:30:01 000001 CNY buy 1000 11.5 5.12 0 00000078',
      '2025-12-03 13:05:07 000001 CNY sell 200 11.52 5.02 1.15 00000123',
    ],
    dividends: ['2025-12-05 000001 CNY 236 0 0', '2025-12-06 000001 CNY 0 0 23.6'],
    cash: ['2025-12-08 out 2000 CNY'],
    skipped: ['8 blank'],
  },
  {
    broker: 'zhaoshang',
    text: [
      '招商证券对账单,,,,,,,,',
      '成交日期,证券代码,证券名称,买卖标志,成交价格,成交数量,佣金,印花税,过户费,交易费,货币单位',
      '2025/12/2,00700,腾讯控股,港股通买入,600.5,100,15.2,60.1,0,3.3,港币',
      '2025/12/2,204001,GC001,质押回购拆出,1.5,10,0.1,0,0,0,人民币',
      '合计,,,,,,15.2,60.1,0,3.3,',
    ].join('\n'),
    trades: ['2025-12-02  HK00700 HKD buy 100 600.5 18.5 60.1 '],
    skipped: ['4 no_trade 质押回购拆出', '5 blank'],
  },
  {
    broker: 'eastmoney',
    text: [
      '成交日期,成交时间,证券代码,证券名称,委托方向,成交数量,成交均价,成交金额,佣金,其他费用,印花税,过户费,成交编号',
      '20251202,93001,300750,宁德时代,买入,100,380.12,38012,9.5,0.1,0,0.38,101',
      '20251202,145959,300750,宁德时代,卖出,100,381,38100,9.53,0.1,19.05,0.38,102',
    ].join('\n'),
    trades: [
      '2025-12-02 09:30:01 300750 CNY buy 100 380.12 9.98 0 101',
      '2025-12-02 14:59:59 300750 CNY sell 100 381 10.01 19.05 102',
    ],
    skipped: [],
  },
  {
    broker: 'schwab',
    text: [
      '"Transactions  for account Individual ...123 as of 12/31/2025 04:00:00 PM ET"',
      '"Date","Action","Symbol","Description","Quantity","Price","Fees & Comm","Amount"',
      '"12/30/2025","Sell","AAPL","APPLE INC","5","$270.50","$0.02","$1,352.48"',
      '"12/16/2025 as of 12/15/2025","Reinvest Shares","MSFT","MICROSOFT CORP","0.1234","$480.00","","-$59.23"',
      '"12/02/2025","Qualified Dividend","MSFT","MICROSOFT CORP","","","","$9.10"',
      '"12/01/2025","Buy","AAPL","APPLE INC","1,000","$200.10","","-$200,100.00"',
      '"12/16/2025","Reinvest Dividend","MSFT","MICROSOFT CORP","","","","$59.23"',
      '"12/16/2025","NRA Tax Adj","MSFT","MICROSOFT CORP","","","","-$8.88"',
      '"12/01/2025","Bank Interest","","BANK INT","","","","$0.11"',
      '"12/01/2025","MoneyLink Transfer","","Tfr BANK OF X","","","","$250,000.00"',
      '"12/30/2025","MoneyLink Transfer","","Tfr BANK OF X","","","","-$1,000.50"',
      '"Transactions Total","","","","","","","-$198,797.65"',
    ].join('\n'),
    trades: [
      '2025-12-01  AAPL USD buy 1000 200.1 0 0 ',
      '2025-12-16  MSFT USD buy 0.1234 480 0 0 ',
      '2025-12-30  AAPL USD sell 5 270.5 0.02 0 ',
    ],
    dividends: ['2025-12-02 MSFT USD 9.1 0 0', '2025-12-16 MSFT USD 59.23 0 0', '2025-12-16 MSFT USD 0 0 8.88'],
    cash: ['2025-12-01 in 250000 USD', '2025-12-30 out 1000.5 USD'],
    skipped: ['9 blank', '12 blank'],
  },
  {
    broker: 'ibkr',
    text: [
      '"ClientAccountID","CurrencyPrimary","AssetClass","Symbol","TradeID","DateTime","TradeDate","Buy/Sell","Quantity","TradePrice","Taxes","IBCommission"',
      '"U1","USD","STK","BRK B","900","20251202;093512","20251202","BUY","3","500.25","0","-1.0"',
      '"U1","USD","STK","BRK B","901","20251203;101500","20251203","SELL","-1","505","-0.01","-1.000045"',
      '"U1","HKD","STK","700","902","20251204;100000","20251204","BUY","100","600","-60","-18"',
      '"U1","USD","CASH","EUR.USD","903","20251204;100100","20251204","BUY","100","1.16","0","-2"',
    ].join('\n'),
    trades: [
      '2025-12-02 09:35:12 BRK.B USD buy 3 500.25 1 0 900',
      '2025-12-03 10:15:00 BRK.B USD sell 1 505 1.000045 0.01 901',
      '2025-12-04 10:00:00 HK00700 HKD buy 100 600 18 60 902',
    ],
    skipped: ['5 no_trade CASH'],
  },
  {
    broker: 'ibkr',
    text: [
      '"ClientAccountID","CurrencyPrimary","AssetClass","Symbol","Date/Time","SettleDate","Amount","Type","TransactionID"',
      '"U1","USD","STK","BRK B","20251211;202000","20251211","45.5","Dividends","7001"',
      '"U1","USD","STK","BRK B","20251211;202000","20251211","-6.83","Withholding Tax","7002"',
      '"U1","HKD","STK","700","20251212;202000","20251212","120","Payment In Lieu Of Dividends","7003"',
      '"U1","EUR","","","20251201","20251201","10000","Deposits/Withdrawals","7004"',
      '"U1","USD","","","20251203","20251203","-0.12","Broker Interest Paid","7005"',
    ].join('\n'),
    trades: [],
    dividends: ['2025-12-11 BRK.B USD 45.5 0 0', '2025-12-11 BRK.B USD 0 0 6.83', '2025-12-12 HK00700 HKD 120 0 0'],
    cash: ['2025-12-01 in 10000 EUR'],
    skipped: ['6 no_trade'],
  },
]
