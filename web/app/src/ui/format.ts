import { byLocale } from '../language/language.ts'
import { t } from '../language/words.ts'

const dollars = byLocale((locale) => new Intl.NumberFormat(locale, { style: 'currency', currency: 'USD', maximumFractionDigits: 4, minimumFractionDigits: 2 }))
const tenths = byLocale((locale) => new Intl.NumberFormat(locale, { minimumFractionDigits: 1, maximumFractionDigits: 1 }))

export const capitalize = (text: string): string => text.charAt(0).toLocaleUpperCase() + text.slice(1)
export const money = (cost: number | null): string => (cost === null ? '—' : dollars().format(cost))

/** Between two facts in a line. In Arabic a dot is a zero. */
export const dot = (): string => t(' · ')

/** With one place after the point. */
export const oneDecimal = (n: number): string => tenths().format(n)
