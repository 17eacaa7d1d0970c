/** The language of the app: what the person chose, otherwise what the browser asks for. */
import { useSyncExternalStore } from 'react'

import { retryImport } from '../ui/retryImport.ts'
import { loadItem, onOtherTab, removeItem, saveItem } from '../ui/storage.ts'

export type Language = 'en' | 'ar'

/** Each language in its own words, so that people find theirs. */
export const LANGUAGES: Record<Language, string> = { en: 'English', ar: 'العربية' }

/** A text, or its plural forms. `other` is for all numbers without a form of their own. */
export type Forms = Partial<Record<Intl.LDMLPluralRule, string>> & { other: string }
/** Texts by their English text. English needs none: its texts are part of the code. */
export type Catalogue = Readonly<Record<string, string | Forms>>

const LOAD: Record<Language, () => Promise<Catalogue>> = {
  en: () => Promise.resolve({}),
  ar: () => retryImport(() => import('./ar/index.ts')).then((loaded) => loaded.default),
}
const RIGHT_TO_LEFT: readonly Language[] = ['ar']
const KEY = 'majlis.language'
const YEAR_S = 31_536_000

let current: { language: Language; locale: string | undefined; catalogue: Catalogue } = { language: 'en', locale: undefined, catalogue: {} }
const listeners = new Set<() => void>()

export const language = (): Language => current.language
export const catalogue = (): Catalogue => current.catalogue
export const isRightToLeft = (): boolean => RIGHT_TO_LEFT.includes(current.language)
export const useLanguage = (): Language => useSyncExternalStore(subscribe, language)

/** The choice of the person; null follows the browser. */
export const chosenLanguage = (): Language | null => known(loadItem(KEY))

/** Shows the language that applies. Resolves when its texts are there; without them the app is in English. */
export function startLanguage(): Promise<void> {
  onOtherTab(KEY, () => void showChosen())
  return showChosen()
}

function showChosen(): Promise<void> {
  return show(chosenLanguage() ?? ofBrowser()).catch(() => show('en'))
}

export async function chooseLanguage(chosen: Language | null): Promise<void> {
  await show(chosen ?? ofBrowser())
  if (chosen) saveItem(KEY, chosen)
  else removeItem(KEY)
  // For the pages of the server, such as the one to sign in.
  document.cookie = `majlis_language=${chosen ?? ''}; path=/; max-age=${chosen ? YEAR_S : 0}; samesite=lax`
}

/** Makes one formatter per locale: they are slow to make. */
export function byLocale<Formatter>(make: (locale: string | undefined) => Formatter): () => Formatter {
  let made: { locale: string | undefined; formatter: Formatter } | null = null
  return () => {
    if (made?.locale !== current.locale || !made) made = { locale: current.locale, formatter: make(current.locale) }
    return made.formatter
  }
}

/** For tests. */
export function setLanguage(shown: Language, texts: Catalogue, locale: string = shown): void {
  current = { language: shown, locale, catalogue: texts }
}

async function show(wanted: Language): Promise<void> {
  const texts = await LOAD[wanted]()
  setLanguage(wanted, texts, localeOf(wanted))
  document.documentElement.lang = wanted
  document.documentElement.dir = isRightToLeft() ? 'rtl' : 'ltr'
  listeners.forEach((each) => each())
}

/** With the region that the browser names, which decides about digits, dates and the clock. */
const localeOf = (wanted: Language): string => navigator.languages.find((each) => base(each) === wanted && isValid(each)) ?? wanted

/** Some browsers name "en-US@posix", which `Intl` refuses. */
const isValid = (tag: string): boolean => /^[a-z0-9]+(?:-[a-z0-9]+)*$/i.test(tag)

const ofBrowser = (): Language => navigator.languages.map((each) => known(base(each))).find((each) => each !== null) ?? 'en'

const base = (tag: string): string => tag.split(/[-_@]/)[0]!.toLowerCase()

const known = (tag: string | null): Language | null => (tag !== null && tag in LANGUAGES ? (tag as Language) : null)

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
