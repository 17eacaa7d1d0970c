/** Locators and actions that several tests use. */
import type { Locator, Page } from 'playwright-core'

export const composer = (page: Page): Locator => page.getByRole('textbox', { name: /^Message / })
export const messages = (page: Page): Locator => page.getByRole('article')
export const message = (page: Page, text: string): Locator => messages(page).filter({ hasText: text })
export const spaceRow = (page: Page, name: string): Locator => page.getByRole('navigation', { name: 'Spaces' }).getByRole('link', { name: new RegExp(`^${name}`) })

export async function send(page: Page, text: string): Promise<void> {
  await composer(page).fill(text)
  await composer(page).press('Enter')
}

/** The text of all rows in the timeline. */
export const timeline = (page: Page): Promise<string[]> =>
  page.getByRole('group', { name: 'Messages' }).getByRole('listitem').evaluateAll((rows) => rows.map((row) => (row as HTMLElement).innerText))

/** Chooses an entry of the menu of a message. */
export async function act(page: Page, row: Locator, action: string): Promise<void> {
  await row.hover()
  await row.getByRole('button', { name: 'More actions' }).click()
  await page.getByRole('menuitem', { name: action }).click()
}
