"""Images: their format by their first bytes, and how large they may be."""

from __future__ import annotations

import io
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Final

from hitherto._optional import require
from hitherto.errors import ArgumentTypeError, InvalidArgumentError, shown
from hitherto.messages import ImageMimeType
from hitherto.notset import NOT_SET, NotSetType

if TYPE_CHECKING:
    from collections.abc import Sequence

_MOST: Final = {
    "max_raw_image_bytes": 33_554_432,
    "max_images_per_llm_request": 512,
    "max_total_raw_image_bytes_per_llm_request": 268_435_456,
}
MOST_PIXELS: Final = 20_000_000
"""The most pixels of an image that a language model gets; more is taken for a decompression bomb."""

_FORMATS: Final = {
    ImageMimeType.PNG: "PNG",
    ImageMimeType.JPEG: "JPEG",
    ImageMimeType.WEBP: "WEBP",
}


@dataclass(frozen=True)
class ImageInputLimitConfig:
    """How large images may be that go to a language model; what is left out has its default.

    Attributes:
        max_raw_image_bytes: The most bytes of one image; default 10 MiB, at most 32 MiB.
        max_images_per_llm_request: The most images of one request; default 100, at most 512.
        max_total_raw_image_bytes_per_llm_request: The most bytes of all images of one request; default 100 MiB, at most
            256 MiB.

    Raises:
        InvalidArgumentError: If a value is no int, below 1, or above what there may be at most.

    Examples:
        >>> ImageInputLimitConfig(max_raw_image_bytes=1_000_000).max_raw_image_bytes
        1000000
    """

    max_raw_image_bytes: int | NotSetType = NOT_SET
    max_images_per_llm_request: int | NotSetType = NOT_SET
    max_total_raw_image_bytes_per_llm_request: int | NotSetType = NOT_SET

    def __post_init__(self) -> None:
        """Check the values."""
        for item in fields(self):
            value, most = getattr(self, item.name), _MOST[item.name]
            if value is not NOT_SET and (type(value) is not int or not 1 <= value <= most):
                raise InvalidArgumentError(
                    f"{item.name} must be an int from 1 to {most}, got {shown(value)}", argument=item.name
                )


@dataclass(frozen=True, slots=True)
class ImageLimits:
    """The limits that hold.

    Attributes:
        image_bytes: The most bytes of one image.
        images: The most images of one request.
        request_bytes: The most bytes of all images of one request.
    """

    image_bytes: int = 10_485_760
    images: int = 100
    request_bytes: int = 104_857_600

    @classmethod
    def of(cls, config: ImageInputLimitConfig | NotSetType) -> ImageLimits:
        """Return the limits of a configuration.

        Args:
            config: The configuration, or NOT_SET for the defaults.

        Raises:
            ArgumentTypeError: If it is neither.
        """
        if config is NOT_SET:
            return cls()
        if not isinstance(config, ImageInputLimitConfig):
            raise ArgumentTypeError(
                f"image_input_limit_config must be an ImageInputLimitConfig, got {shown(config)}",
                argument="image_input_limit_config",
            )
        given = (
            config.max_raw_image_bytes,
            config.max_images_per_llm_request,
            config.max_total_raw_image_bytes_per_llm_request,
        )
        default = cls()
        known = (default.image_bytes, default.images, default.request_bytes)
        chosen: list[Any] = [
            own if value is NOT_SET else value for value, own in zip(given, known, strict=True)
        ]
        return cls(*chosen)


def detect_mime_type(data: object) -> ImageMimeType:
    r"""Return an image's format, by its first bytes.

    Args:
        data: The encoded image.

    Raises:
        InvalidArgumentError: If it is no bytes, or neither PNG, JPEG nor WebP.

    Examples:
        >>> detect_mime_type(b"\x89PNG\r\n\x1a\n...")
        <ImageMimeType.PNG: 'image/png'>
    """
    if not isinstance(data, bytes):
        raise InvalidArgumentError(f"image must be bytes, got {type(data).__name__}", argument="image")
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return ImageMimeType.PNG
    if data.startswith(b"\xff\xd8\xff"):
        return ImageMimeType.JPEG
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return ImageMimeType.WEBP
    raise InvalidArgumentError(
        f"image must be PNG, JPEG or WebP by its first bytes, got {data[:12]!r}", argument="image"
    )


def check_for_model(images: Sequence[tuple[bytes, ImageMimeType]], limits: ImageLimits) -> None:
    """Check images before they go to a language model: their number, sizes, formats, and that they can be decoded.

    Args:
        images: The encoded images with their formats.
        limits: How large they may be.

    Raises:
        InvalidArgumentError: If one is too large in bytes or pixels, is not what it says it is, or is broken.
        MissingExtraError: If Pillow is not installed.
    """
    if len(images) > limits.images:
        raise InvalidArgumentError(f"a request takes at most {limits.images} images, got {len(images)}")
    total = sum(len(data) for data, _ in images)
    if total > limits.request_bytes:
        raise InvalidArgumentError(
            f"the images of a request have at most {limits.request_bytes} bytes, got {total}"
        )
    for data, mime_type in images:
        _check_one(data, mime_type, limits)


def _check_one(data: bytes, mime_type: ImageMimeType, limits: ImageLimits) -> None:
    if len(data) > limits.image_bytes:
        raise InvalidArgumentError(
            f"an image has at most {limits.image_bytes} bytes, got {len(data)}", argument="image"
        )
    if detect_mime_type(data) is not mime_type:
        raise InvalidArgumentError(f"image must be what mime_type says, {mime_type.value}", argument="image")
    pillow = require("PIL.Image", extra="images")
    pixels = 0
    try:
        # Opening reads the header alone, so that a bomb is refused before it is decoded.
        with pillow.open(io.BytesIO(data), formats=[_FORMATS[mime_type]]) as opened:
            pixels = opened.width * opened.height * getattr(opened, "n_frames", 1)
            if pixels <= MOST_PIXELS:
                opened.load()
    except Exception as error:
        raise InvalidArgumentError(
            f"image must be a {mime_type.value} that can be decoded: {type(error).__name__}", argument="image"
        ) from error
    if pixels > MOST_PIXELS:
        raise InvalidArgumentError(
            f"an image has at most {MOST_PIXELS} pixels, got {pixels}", argument="image"
        )
