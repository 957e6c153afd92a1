/**
 * Runs inside the page, and results in the texts whose contrast with what lies behind them is below 4.5 (WCAG 2.2,
 * success criterion 1.4.3).
 */
(() => {
  const channels = (colour) => (colour.match(/[\d.]+/g) ?? []).map(Number);
  const linear = (value) => (value / 255 <= 0.04045 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4);
  const luminance = ([red, green, blue]) => 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
  const behind = (element) => {
    if (element === null) return [255, 255, 255];
    const colour = channels(getComputedStyle(element).backgroundColor);
    return colour[3] === 0 ? behind(element.parentElement) : colour;
  };
  const isText = (node) => node.nodeType === Node.TEXT_NODE && node.textContent.trim() !== '';
  const isFaint = (element) => {
    const lights = [luminance(channels(getComputedStyle(element).color)), luminance(behind(element))].sort(
      (a, b) => a - b,
    );
    return (lights[1] + 0.05) / (lights[0] + 0.05) < 4.5;
  };
  return [...document.querySelectorAll('body *')]
    .filter((element) => [...element.childNodes].some(isText) && element.checkVisibility() && isFaint(element))
    .map((element) => element.textContent);
})();
