/** The app's styles for a shadow root. Registered properties hold only for a whole document, so they go there. */
let made: CSSStyleSheet | null = null

// Styles that the page gives to all elements are not inherited.
const FIRST = '@layer theme, base, components, utilities; @layer base { #root { all: initial } }'

export function sheets(css: string): CSSStyleSheet[] {
  if (!made) {
    const registered = css.match(/@property [^{]+\{[^}]*\}/g) ?? []
    document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet(registered.join('\n'))]
    made = sheet(FIRST + placed(css.replace(/@property [^{]+\{[^}]*\}/g, '')))
  }
  return [made]
}

/** Colors belong to the element in the page, which has the theme; the styles of the app's body to the space. Many pages
 * change what a rem is. */
function placed(css: string): string {
  return css
    .replace(/:root(\[[^\]]*\])/g, ':host($1)')
    .replace(/:root\b/g, ':host')
    .replace(/html,\s*body,\s*#root\b/g, '#root')
    .replace(/(^|[\s{},])body(?=\s*\{)/g, '$1#root')
    .replace(/(\d*\.?\d+)rem\b/g, (_, count: string) => `${Number(count) * 16}px`)
}

function sheet(text: string): CSSStyleSheet {
  const one = new CSSStyleSheet()
  one.replaceSync(text)
  return one
}
