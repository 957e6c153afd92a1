/**
 * Runs inside the page, and results in a function: it seeks to `fromS` in the sound at `path`, plays two seconds, and
 * says when each channel became loud.
 */
async ({ path, fromS }) => {
  const audio = new Audio(path);
  const happened = (name) => new Promise((resolve) => audio.addEventListener(name, resolve, { once: true }));
  const failed = happened('error').then(() => 'error');
  if ((await Promise.race([happened('loadedmetadata'), failed])) === 'error')
    return { duration: 0, loudAt: [], error: audio.error?.message ?? 'unknown' };
  audio.currentTime = fromS;
  await happened('seeked');
  const context = new AudioContext();
  const splitter = context.createChannelSplitter(2);
  context.createMediaElementSource(audio).connect(splitter);
  const meters = [0, 1].map((channel) => {
    const meter = context.createAnalyser();
    meter.fftSize = 512;
    splitter.connect(meter, channel);
    return meter;
  });
  const loudAt = [null, null];
  const window = new Float32Array(512);
  await audio.play();
  const endS = Math.min(fromS + 2, audio.duration - 0.1);
  while (audio.currentTime < endS && !audio.ended) {
    for (const [channel, meter] of meters.entries()) {
      meter.getFloatTimeDomainData(window);
      if (loudAt[channel] === null && window.some((value) => Math.abs(value) > 0.3))
        loudAt[channel] = audio.currentTime;
    }
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  audio.pause();
  return { duration: audio.duration, loudAt, error: audio.error?.message ?? null };
};
