/** Two short tones, made by the browser: there is no file to load. */
const TONES_HZ = [587, 880]
const APART_S = 0.12
const LONG_S = 0.35
let audio: AudioContext | null = null

export function playSound(): void {
  audio ??= new AudioContext()
  // Browsers keep it silent until the user has clicked on the page.
  void audio.resume()
  TONES_HZ.forEach((hertz, n) => playTone(audio!, hertz, audio!.currentTime + n * APART_S))
}

function playTone(on: AudioContext, hertz: number, at: number): void {
  const [tone, volume] = [on.createOscillator(), on.createGain()]
  tone.frequency.value = hertz
  volume.gain.setValueAtTime(0, at)
  volume.gain.linearRampToValueAtTime(0.12, at + 0.015)
  volume.gain.exponentialRampToValueAtTime(0.001, at + LONG_S)
  tone.connect(volume).connect(on.destination)
  tone.start(at)
  tone.stop(at + LONG_S)
}
