/** Calls back with the next frame, or soon after where there are no frames: in a hidden tab or without a screen. */
export function nextFrame(call: () => void): void {
  if (typeof requestAnimationFrame === 'undefined') {
    queueMicrotask(call)
    return
  }
  let called = false
  const once = () => {
    if (called) return
    called = true
    clearTimeout(timer)
    cancelAnimationFrame(frame)
    call()
  }
  const timer = setTimeout(once, 100)
  const frame = requestAnimationFrame(once)
}
