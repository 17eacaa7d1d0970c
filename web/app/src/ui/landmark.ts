/** The main part of the page. Menus of messages open within it, because everything on a page belongs to a landmark. */
let main: HTMLElement | null = null

export function setMain(element: HTMLElement | null): void {
  main = element
}

/** For a portal. A page that embeds a space has no such part, and says itself where menus open. */
export const inMain = (): { container: HTMLElement } | Record<string, never> => (main ? { container: main } : {})
