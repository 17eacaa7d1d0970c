/** Messages use the whole width of a wide screen. Kept in this browser, since it depends on the screen. */
import { loadItem, removeItem, saveItem } from './ui/storage.ts'

const KEY = 'majlis.wide'

export const savedWide = (): boolean => loadItem(KEY) !== null

export function showSavedWide(): void {
  show(savedWide())
}

export function chooseWide(wide: boolean): void {
  if (wide) saveItem(KEY, 'yes')
  else removeItem(KEY)
  show(wide)
}

function show(wide: boolean): void {
  document.documentElement.toggleAttribute('data-wide', wide)
}
