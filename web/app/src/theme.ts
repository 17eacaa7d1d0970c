/** Light, dark, or as the machine has it. */
import { keep, kept } from './ui/storage.ts'

export type Theme = 'system' | 'light' | 'dark'
const KEY = 'majlis.theme'

export const savedTheme = (): Theme => (kept(KEY) as Theme | null) ?? 'system'

export function showSavedTheme(): void {
  show(savedTheme())
}

export function chooseTheme(theme: Theme): void {
  keep(KEY, theme)
  show(theme)
}

function show(theme: Theme): void {
  if (theme === 'system') delete document.documentElement.dataset['theme']
  else document.documentElement.dataset['theme'] = theme
}
