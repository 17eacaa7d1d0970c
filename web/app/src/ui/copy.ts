/** The clipboard is kept from pages without https; there the old way still works. */
export async function copyText(text: string): Promise<void> {
  if (navigator.clipboard) return navigator.clipboard.writeText(text)
  const box = document.createElement('textarea')
  box.value = text
  document.body.append(box)
  box.select()
  document.execCommand('copy')
  box.remove()
}
