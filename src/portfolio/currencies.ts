// Currencies by their codes (ISO 4217), and the names that brokers' files have for them.

const NAMES: Readonly<Record<string, string>> = {
  人民币: 'CNY',
  人民币元: 'CNY',
  RMB: 'CNY',
  CNH: 'CNY',
  港币: 'HKD',
  港元: 'HKD',
  美元: 'USD',
  美金: 'USD',
  日元: 'JPY',
  日圆: 'JPY',
  韩元: 'KRW',
  韩圆: 'KRW',
  新台币: 'TWD',
  台币: 'TWD',
  欧元: 'EUR',
  英镑: 'GBP',
}

/** The code; null for what is neither three letters nor a known name. */
export function currencyCode(text: string): string | null {
  const plain = text.normalize('NFKC').trim().toUpperCase()
  const named = NAMES[plain]
  if (named !== undefined) return named
  return /^[A-Z]{3}$/.test(plain) ? plain : null
}
