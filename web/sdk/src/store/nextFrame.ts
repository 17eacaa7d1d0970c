/** With the next frame, or, where frames do not come (a hidden tab, no screen at all), a moment later. */

export function soon(tell: () => void): void {
  if (typeof requestAnimationFrame === 'undefined') {
    queueMicrotask(tell)
    return
  }
  let told = false
  const once = () => {
    if (told) return
    told = true
    clearTimeout(timer)
    cancelAnimationFrame(frame)
    tell()
  }
  const timer = setTimeout(once, 100)
  const frame = requestAnimationFrame(once)
}
