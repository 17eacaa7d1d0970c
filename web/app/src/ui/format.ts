const figures = new Intl.NumberFormat()
const dollars = new Intl.NumberFormat(undefined, { style: 'currency', currency: 'USD', maximumFractionDigits: 4, minimumFractionDigits: 2 })

export const count = (n: number): string => figures.format(n)
export const plural = (n: number, one: string, many = `${one}s`): string => `${count(n)} ${n === 1 ? one : many}`
export const capitalize = (text: string): string => text.charAt(0).toLocaleUpperCase() + text.slice(1)
export const money = (cost: number | null): string => (cost === null ? '—' : dollars.format(cost))
