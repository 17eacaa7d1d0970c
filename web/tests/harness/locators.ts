/** Words for what tests do and see in the app, by role. */
import type { Locator, Page } from 'playwright-core'

export const composer = (page: Page): Locator => page.getByRole('textbox', { name: /^Message / })
export const messages = (page: Page): Locator => page.getByRole('article')
export const message = (page: Page, text: string): Locator => messages(page).filter({ hasText: text })
export const spaceRow = (page: Page, name: string): Locator => page.getByRole('navigation', { name: 'Spaces' }).getByRole('link', { name: new RegExp(`^${name}`) })

export async function say(page: Page, text: string): Promise<void> {
  await composer(page).fill(text)
  await composer(page).press('Enter')
}

/** The whole timeline as somebody reads it: senders, words and lines, without what only a moment shows. */
export const timeline = (page: Page): Promise<string[]> =>
  page.getByRole('group', { name: 'Messages' }).getByRole('listitem').evaluateAll((rows) => rows.map((row) => (row as HTMLElement).innerText))
