const figures = new Intl.NumberFormat()

export const count = (n: number): string => figures.format(n)
export const plural = (n: number, one: string, many = `${one}s`): string => `${count(n)} ${n === 1 ? one : many}`
export const capitalize = (text: string): string => text.charAt(0).toLocaleUpperCase() + text.slice(1)
