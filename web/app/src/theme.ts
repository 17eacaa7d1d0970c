import { useSyncExternalStore } from 'react'

import { noteChange } from './features/profile/unsent.ts'
import { msg } from './language/words.ts'
import { loadItem, onOtherTab, saveItem } from './ui/storage.ts'

export type Theme = 'system' | 'light' | 'dark'
export const THEMES: Record<Theme, string> = { system: msg('System'), light: msg('Light'), dark: msg('Dark') }
const KEY = 'majlis.theme'
const listeners = new Set<() => void>()

export const savedTheme = (): Theme => (loadItem(KEY) as Theme | null) ?? 'system'
export const useTheme = (): Theme => useSyncExternalStore(subscribe, savedTheme)

export function showSavedTheme(): void {
  show(savedTheme())
  onOtherTab(KEY, () => showNow(savedTheme()))
}

export function chooseTheme(theme: Theme): void {
  adoptTheme(theme)
  noteChange('theme')
}

/** The choice that was made in another browser. */
export function adoptTheme(theme: Theme): void {
  saveItem(KEY, theme)
  showNow(theme)
}

function showNow(theme: Theme): void {
  show(theme)
  listeners.forEach((each) => each())
}

function show(theme: Theme): void {
  if (theme === 'system') delete document.documentElement.dataset['theme']
  else document.documentElement.dataset['theme'] = theme
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
